"""Which banks take what: a list that is taken whole or not at all, and what follows from it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from common.audits import Scope
from networks.base import Accepted, InstructionRefused
from networks.instant import directory, participants
from networks.instant.iso.profiles import FEDNOW, RTP
from networks.instant.models import Conversation, Participant, ParticipantList
from networks.instant.participants import BadLines, ListRefused
from networks.instant.states import ConversationKind as Kind
from networks.refusals import CANNOT_TAKE_IT
from tenants.models import AuditEvent
from tests.networks.instant.builders import PAYEE_ROUTING, account, payment, request

pytestmark = pytest.mark.django_db

HEADING = "network,routing_number,name,receives_credits,receives_requests"
OTHER, THIRD = "021000021", "026009593"


def a_list(*lines, heading=HEADING):
    return "\n".join((heading, *lines)).encode()


def take(content, now, profile="fednow", **how):
    banks = participants.read(profile, content)
    return participants.take(profile, banks, reason="The daily one", by="Ada", now=now, **how)


def listed():
    rows = Participant.objects.filter(list__replaced_at=None).order_by("routing_number")
    return list(rows.values_list("routing_number", "takes_payments", "takes_requests"))


class TestReading:
    def test_takes_the_lines_of_its_network(self, now):
        take(
            a_list(
                f"fednow,{PAYEE_ROUTING},One,yes,no",
                f"rtp,{OTHER},Two,yes,yes",
                f"FedNow,{THIRD},Three,NO,yes",
            ),
            now,
        )

        assert listed() == [(PAYEE_ROUTING, True, False), (THIRD, False, True)]

    def test_needs_no_column_of_the_network(self, now):
        heading = "routing_number,receives_credits,receives_requests,color"

        take(a_list(f"{OTHER},yes,yes,blue", heading=heading), now)

        assert listed() == [(OTHER, True, True)]

    def test_takes_a_mark_of_byte_order(self, now):
        take(b"\xef\xbb\xbf" + a_list(f"fednow,{OTHER},,yes,yes"), now)

        assert listed() == [(OTHER, True, True)]

    def test_names_each_bad_line_and_takes_none(self, now):
        heading = f"{HEADING},receives_returns,since,until"
        content = a_list(
            f"fednow,{PAYEE_ROUTING},One,yes,yes,yes,,",
            "fednow,011000016,Two,yes,yes,,,",
            f"fednow,{OTHER},Three,maybe,yes,,,",
            f"fednow,{OTHER},Four,yes,yes,,tomorrow,",
            f"fednow,{PAYEE_ROUTING},Five,yes,yes,,,",
            f"fednow,{OTHER},Six,yes,yes,,2026-11-30,2026-11-29",
            f"fednow,{OTHER},Seven,yes,yes,perhaps,,",
            f"fednow,{OTHER},Eight,yes,",
            heading=heading,
        )

        with pytest.raises(BadLines) as refused:
            take(content, now)

        assert refused.value.problems == {
            3: "'011000016' is no routing number",
            4: "receives_credits is yes or no",
            5: "since is a day, as 2026-11-30",
            6: f"{PAYEE_ROUTING} stands in line 2 already",
            7: "ends before it begins",
            8: "receives_returns is yes or no",
            9: "receives_requests is yes or no",
        }
        assert "line 3: '011000016' is no routing number" in refused.value.detail
        assert not ParticipantList.objects.exists()

    @pytest.mark.parametrize(
        ("content", "why"),
        [
            (b"", "heading has no routing_number"),
            (b"\xff\xfe", "no CSV"),
            (b"routing_number,receives_credits\n", "no receives_requests"),
            (a_list(), "no bank of fednow"),
            (a_list(f"rtp,{OTHER},Two,yes,yes"), "no bank of fednow"),
            (a_list(f'fednow,{OTHER},"Tw'), "no CSV"),
            (a_list("x" * participants.BYTES_MAX), "at most 8 MiB"),
        ],
    )
    def test_refuses_what_is_no_list(self, content, why):
        with pytest.raises(ListRefused, match=why):
            participants.read("fednow", content)

    def test_is_bounded(self):
        lines = [f"rtp,{OTHER},,yes,yes"] * participants.BANKS_MAX
        content = a_list(*lines, f"fednow,{OTHER},,yes,yes")

        with pytest.raises(ListRefused, match="50,000"):
            participants.read("fednow", content)


class TestTheNextList:
    def many(self, count):
        valid = []
        for prefix in range(11_000_000, 11_100_000):
            digits = [int(each) for each in f"{prefix:08d}"]
            weights = (3, 7, 1, 3, 7, 1, 3, 7)
            total = sum(each * weight for each, weight in zip(digits, weights, strict=True))
            valid.append(f"{prefix:08d}{-total % 10}")
            if len(valid) == count:
                return valid
        raise AssertionError

    def lines(self, count):
        return a_list(*(f"fednow,{number},,yes,yes" for number in self.many(count)))

    def test_takes_the_place_of_the_one_before(self, now):
        first = take(self.lines(20), now)
        second = take(self.lines(21), now)

        first.refresh_from_db()
        assert (first.replaced_at, second.replaced_at) == (now, None)
        assert len(listed()) == 21
        assert participants.current("fednow") == second

    def test_of_another_network_stands_beside_it(self, now):
        take(a_list(f"fednow,{OTHER},,yes,yes"), now)
        take(a_list(f"rtp,{THIRD},,yes,yes"), now, profile="rtp")

        assert len(listed()) == 2

    def test_may_lack_a_tenth_of_the_banks(self, now):
        take(self.lines(20), now)

        take(self.lines(18), now)

        assert len(listed()) == 18

    def test_that_lacks_more_is_refused_and_the_former_stays(self, now):
        former = take(self.lines(20), now)

        with pytest.raises(ListRefused, match="3 of 20 banks are not in it any more"):
            take(self.lines(17), now)

        assert participants.current("fednow") == former
        assert len(listed()) == 20

    def test_that_lacks_more_is_taken_by_force(self, now):
        take(self.lines(20), now)

        take(self.lines(1), now, is_forced=True)

        assert len(listed()) == 1

    def test_leaves_the_banks_of_two(self, now):
        for _ in range(4):
            take(self.lines(20), now)

        assert ParticipantList.objects.count() == 4
        assert Participant.objects.count() == 40

    def test_is_audited_by_the_digest_of_its_banks(self, now):
        take(self.lines(20), now)
        assert list(participants.check(Scope())) == []

        Participant.objects.latest("pk").delete()

        (finding,) = participants.check(Scope())
        assert finding.code == "instant_participants"


class TestJudging:
    @pytest.fixture(autouse=True)
    def a_list_in_force(self, now):
        heading = f"{HEADING},receives_returns,since,until"
        today = FEDNOW.settlement_date(now)
        day = timedelta(days=1)
        for profile in ("rtp", "fednow"):
            content = a_list(
                f"{profile},{PAYEE_ROUTING},One,yes,no,no,,",
                f"{profile},{OTHER},Two,yes,yes,yes,{today - 2 * day},{today - day}",
                f"{profile},{THIRD},Three,yes,yes,,{today - day},{today + day}",
                heading=heading,
            )
            take(content, now, profile=profile)

    def judge(self, now, number, kind=Kind.PAYMENT, profile=FEDNOW):
        return directory.look_up(profile, [number], now=now).judge(number, kind)

    def test_goes_by_what_the_bank_takes(self, now):
        assert self.judge(now, PAYEE_ROUTING) is None
        assert self.judge(now, PAYEE_ROUTING, Kind.REQUEST) == (
            "unreachable",
            "This bank takes no requests for payment over FedNow. Use ACH instead.",
        )
        assert self.judge(now, PAYEE_ROUTING, Kind.GIVE_BACK) == (
            "unreachable",
            "This bank takes no returns of funds over FedNow.",
        )
        assert self.judge(now, THIRD, Kind.GIVE_BACK) is None

    def test_goes_by_the_network_s_day(self, now):
        assert self.judge(now, THIRD) is None
        assert self.judge(now, OTHER) is not None
        assert self.judge(now - timedelta(days=1), OTHER) is None
        assert self.judge(now + timedelta(days=2), THIRD) is not None

    def test_tries_a_bank_that_is_not_named_where_the_profile_says_so(self, now):
        unknown = "071000013"

        assert (RTP.tries_unlisted, FEDNOW.tries_unlisted) == (False, True)
        assert self.judge(now, unknown) is None
        assert self.judge(now, unknown, profile=RTP).reason == (
            "This bank takes no payments over RTP. Use ACH instead."
        )
        assert self.judge(now, unknown, profile=replace(FEDNOW, tries_unlisted=False)) is not None

    def test_takes_two_queries_for_many(self, now, django_assert_num_queries):
        with django_assert_num_queries(2):
            directory.look_up(FEDNOW, [PAYEE_ROUTING, OTHER, THIRD] * 20, now=now)


def test_every_bank_is_tried_without_a_list(now):
    assert directory.look_up(RTP, [OTHER], now=now).judge(OTHER, Kind.REQUEST) is None


def test_a_bank_that_takes_none_is_refused_at_once_and_nothing_is_said(operator, bank, now):
    take(a_list(f"{operator.name},{PAYEE_ROUTING},One,yes,no"), now, profile=operator.name)
    paid, asked = payment(), request(now)

    answers = bank.submit_many([paid, asked], now=now)

    assert isinstance(answers[paid.id], Accepted)
    refusal = answers[asked.id]
    assert isinstance(refusal, InstructionRefused)
    assert refusal.reason.endswith("Use ACH instead.")
    assert refusal.code in CANNOT_TAKE_IT  # so an automatic payment goes by ACH
    assert Conversation.objects.count() == len(operator.taken()) == 1


def test_a_payment_to_a_bank_that_left_is_refused_and_one_beside_it_goes(operator, bank, now):
    take(a_list(f"{operator.name},{OTHER},Two,no,no"), now, profile=operator.name)
    bad = payment(account=account(routing_number=OTHER))

    assert isinstance(bank.submit_many([bad], now=now)[bad.id], InstructionRefused)
    assert operator.taken() == []


class TestTheCommand:
    def run(self, path, *options, profile="fednow"):
        out = StringIO()
        who = ("--operator", "Ada", "--reason", "The daily one")
        call_command(
            "import_participants", profile, str(path), "--json", *options, *who, stdout=out
        )
        return json.loads(out.getvalue())

    @pytest.fixture
    def path(self, tmp_path):
        path = tmp_path / "banks.csv"
        path.write_bytes(a_list(f"fednow,{OTHER},Two,yes,yes"))
        return path

    def test_takes_a_list_and_writes_it_down(self, path):
        said = self.run(path)

        made = ParticipantList.objects.get()
        assert said == {"profile": "fednow", "banks": 1, "imported": True, "listId": made.pk}
        line = AuditEvent.objects.get(subject_id=made.pk)
        assert line.action == "participants.imported"
        assert (line.details["operator"], line.details["digest"]) == ("Ada", made.digest)

    def test_tries_it_out(self, path):
        assert self.run(path, "--dry-run") == {"profile": "fednow", "banks": 1, "imported": False}
        assert not ParticipantList.objects.exists()

    @pytest.mark.parametrize("options", [(), ("--dry-run",)])
    def test_refuses_a_bad_one_and_says_where(self, path, options):
        path.write_bytes(a_list("fednow,1,Two,yes,yes"))

        with pytest.raises(CommandError, match="line 2: '1' is no routing number"):
            self.run(path, *options)

        assert not AuditEvent.objects.exists()

    def test_wants_a_file(self, tmp_path):
        with pytest.raises(CommandError, match="cannot read"):
            self.run(tmp_path / "nothing.csv")
