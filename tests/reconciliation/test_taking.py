from __future__ import annotations

import json
from datetime import date, timedelta

import pytest

from common import crypto
from common.days import start_of
from networks.ach.inbound import deciding
from networks.ach.models import InFile
from reconciliation import reading
from reconciliation.models import BankStatement, StatementFormat, StatementLine
from tests.networks.ach.inbound.builders import make_rail
from tests.reconciliation.statements import (
    FRIDAY,
    MONDAY,
    NEXT_MONDAY,
    NOW,
    OPENING,
    THURSDAY,
    TUESDAY,
    WEDNESDAY,
    bai2_of,
    camt_of,
    codes,
    in_force,
    store,
    take,
)

NEXT_BUSINESS_DAY = date(2026, 11, 30)  # NOW is the Saturday before
pytestmark = pytest.mark.django_db


def days():
    return list(BankStatement.objects.order_by("last_day").values_list("last_day", "closing"))


def nothing_written():
    return not BankStatement.objects.exists() and not StatementLine.objects.exists()


class TestAStatement:
    def test_is_taken_with_its_lines(self, account):
        file = take(bai2_of(MONDAY, 5_000, -1_200, 300))

        assert (file.status, file.faults, file.next_attempt_at) == ("applied", [], None)
        row = BankStatement.objects.get()
        assert (row.account, row.file, row.follows) == (account, file, None)
        assert (row.first_day, row.last_day) == (MONDAY, MONDAY)
        assert (row.opening, row.credits, row.debits, row.closing) == (
            OPENING,
            5_300,
            1_200,
            OPENING + 4_100,
        )
        lines = row.lines.order_by("position")
        assert [line.amount for line in lines] == [5_000, -1_200, 300]
        assert [(line.booked_on, line.kind, line.type_code) for line in lines] == [
            (MONDAY, "batch", "166"),
            (MONDAY, "batch", "466"),
            (MONDAY, "batch", "166"),
        ]
        assert lines[0].references == {"bank": "202611160001", "customer": "REF161"}

    def test_keeps_what_it_says_of_people_encrypted(self, account):
        take(bai2_of(MONDAY, 5_000))

        line = StatementLine.objects.get()
        said = crypto.decrypt(line.said_token, context=line.encryption_context)
        assert json.loads(said) == {"text": "ACH SETTLEMENT"}

    def test_without_lines_is_a_day_as_well(self, account):
        take(bai2_of(MONDAY))

        assert days() == [(MONDAY, OPENING)]
        assert BankStatement.objects.get().line_count == 0

    def test_follows_the_one_before(self, account):
        take(bai2_of(MONDAY, 5_000))
        take(bai2_of(TUESDAY, -5_000, opening=OPENING + 5_000))

        first, second = BankStatement.objects.order_by("last_day")
        assert second.follows == first
        assert days() == [(MONDAY, OPENING + 5_000), (TUESDAY, OPENING)]

    def test_may_come_after_a_weekend(self, rail):
        in_force(opened_on=FRIDAY)
        take(bai2_of(FRIDAY, 1))
        take(bai2_of(NEXT_MONDAY, 1, opening=OPENING + 1))

        assert [day for day, _ in days()] == [FRIDAY, NEXT_MONDAY]

    def test_of_the_other_format_is_taken_where_the_bank_sends_that(self, rail):
        in_force(form=StatementFormat.CAMT)
        file = take(camt_of(MONDAY, 5_000))

        assert (file.status, days()) == ("applied", [(MONDAY, OPENING + 5_000)])


class TestWhatIsSetAside:
    """Nothing of it is written, and it says what to do."""

    @pytest.mark.parametrize(
        ("change", "code"),
        [
            (lambda data: data[: len(data) // 2], "file_truncated"),
            (lambda data: data.replace(b"16,166,5000", b"16,166,5001"), "account_total_wrong"),
            (lambda data: data.replace(b",USD,010", b",EUR,010"), "currency_unsupported"),
            (lambda data: data.replace(b"16,166,5000", b"16,166,50.005"), "amount_decimals"),
            (lambda data: b"<!DOCTYPE a [<!ENTITY b 'c'>]><a/>", "doctype_refused"),
            (lambda data: b"not a statement", "format_unknown"),
        ],
        ids=["half", "sum", "currency", "decimals", "bomb", "other"],
    )
    def test_what_the_reader_refuses(self, account, change, code):
        file = take(change(bai2_of(MONDAY, 5_000)))

        assert file.status == "review"
        assert code in codes(file)
        assert nothing_written()

    def test_a_file_without_a_statement(self, account):
        file = take(b"01,122099999,123456789,261128,0200,1,,,2/\n99,0,0,2/\n")

        assert (file.status, codes(file)) == ("review", ["no_statement"])

    def test_another_account(self, account):
        file = take(bai2_of(MONDAY, 5_000, account="999"))

        assert (file.status, codes(file)) == ("review", ["account_unknown"])
        assert nothing_written()

    def test_a_negative_opening(self, account):
        file = take(bai2_of(MONDAY, 5_000, opening=-100))

        assert (file.status, codes(file)) == ("review", ["opening_negative"])
        assert nothing_written()

    def test_the_account_of_another_rail(self, account):
        other = make_rail("other").pk
        in_force(rail=other, number="5550001")

        file = take(bai2_of(MONDAY, 5), rail=other)

        assert (file.status, codes(file)) == ("review", ["account_unknown"])
        assert not BankStatement.objects.exists()
        assert take(bai2_of(MONDAY, 5)).status == "applied"

    def test_another_balance_than_that_which_two_people_agreed_on(self, account):
        file = take(bai2_of(MONDAY, 5_000, opening=OPENING + 1))

        assert (file.status, codes(file)) == ("review", ["opening_differs"])
        assert nothing_written()

    def test_another_balance_than_that_of_the_day_before(self, account):
        take(bai2_of(MONDAY, 5_000))
        file = take(bai2_of(TUESDAY, 1, opening=OPENING))

        assert (file.status, codes(file)) == ("review", ["opening_differs"])
        assert days() == [(MONDAY, OPENING + 5_000)]

    def test_the_same_day_with_other_lines(self, account):
        take(bai2_of(MONDAY, 5_000))
        file = take(bai2_of(MONDAY, 2_000, 3_000))

        assert (file.status, codes(file)) == ("review", ["statement_overlaps"])
        assert StatementLine.objects.count() == 1

    def test_an_earlier_day_that_changed(self, account):
        take(bai2_of(MONDAY, 5_000))
        take(bai2_of(TUESDAY, 1, opening=OPENING + 5_000))
        file = take(bai2_of(MONDAY, 4_000, 1_000))

        assert (file.status, codes(file)) == ("review", ["statement_overlaps"])

    def test_all_of_a_file_with_one_statement_that_is_not_right(self, rail):
        in_force(cents=7)
        one, other = bai2_of(MONDAY, 5, opening=7), bai2_of(TUESDAY, 5)
        both = one.split(b"99,")[0] + b"\n".join(other.split(b"\n")[1:])
        file = take(_with_trailer(both))

        assert (file.status, codes(file)) == ("review", ["opening_differs"])
        assert nothing_written()


def _with_trailer(content):
    """Two groups under one trailer whose totals are right."""
    records = [record for record in content.split(b"\n") if record and record[:2] != b"99"]
    total = sum(int(record.split(b",")[1]) for record in records if record[:2] == b"98")
    return b"\n".join([*records, b"99,%d,2,%d/" % (total, len(records) + 1), b""])


class TestTheFuture:
    """A day that has not begun has no final statement."""

    def test_is_set_aside(self, rail):
        in_force(opened_on=NEXT_BUSINESS_DAY)
        file = take(bai2_of(NEXT_BUSINESS_DAY, 5_000))

        assert (file.status, codes(file)) == ("review", ["day_not_begun"])
        assert nothing_written()

    def test_has_begun_at_a_bank_whose_clock_runs_ahead(self, rail, settings, tmp_path):
        told = {"ahead_seconds": 86_400 * 5, "day_seconds": 6}
        settings.ACH_BANK_CLOCK = str(tmp_path / "clock.json")
        (tmp_path / "clock.json").write_text(json.dumps(told))
        in_force(opened_on=NEXT_BUSINESS_DAY)

        assert take(bai2_of(NEXT_BUSINESS_DAY, 5_000)).status == "applied"

    def test_begins_at_midnight_in_new_york(self, rail):
        in_force(opened_on=NEXT_BUSINESS_DAY)
        file = store(bai2_of(NEXT_BUSINESS_DAY, 5_000))

        reading.read_due(now=start_of(NEXT_BUSINESS_DAY))

        assert InFile.objects.get(pk=file.pk).status == "applied"


class TestWhatChangesNothing:
    def test_the_same_bytes(self, account):
        first = take(bai2_of(MONDAY, 5_000))
        again = take(bai2_of(MONDAY, 5_000), name="again.txt")

        assert again == first
        assert BankStatement.objects.count() == 1

    def test_the_same_statement_in_other_bytes(self, account):
        take(bai2_of(MONDAY, 5_000))
        again = take(bai2_of(MONDAY, 5_000, at=NOW + timedelta(hours=1)))

        assert (again.status, codes(again)) == ("applied", ["statement_known"])
        assert StatementLine.objects.count() == 1

    def test_a_day_before_the_first(self, rail):
        in_force(opened_on=TUESDAY)
        file = take(bai2_of(MONDAY, 5_000, opening=OPENING - 5_000))

        assert (file.status, codes(file)) == ("applied", ["before_the_first"])
        assert nothing_written()

    def test_the_other_format(self, account):
        take(bai2_of(MONDAY, 5_000))
        file = take(camt_of(TUESDAY, 5_000, opening=OPENING + 5_000))

        assert (file.status, codes(file)) == ("applied", ["format_not_read"])
        assert days() == [(MONDAY, OPENING + 5_000)]

    def test_a_report_of_a_day_that_is_not_over(self, account):
        interim = bai2_of(MONDAY, 5_000).replace(b",USD,2/", b",USD,3/")
        file = take(interim)

        assert (file.status, codes(file)) == ("applied", ["not_final"])
        assert nothing_written()


class TestOrder:
    def test_what_came_too_early_is_taken_when_the_missing_one_is_here(self, account):
        early = take(bai2_of(WEDNESDAY, 3, opening=OPENING + 3))
        earlier = take(bai2_of(TUESDAY, 2, opening=OPENING + 1))
        assert (codes(early), codes(earlier)) == (["statement_gap"], ["statement_gap"])
        assert nothing_written()

        take(bai2_of(MONDAY, 1))

        assert days() == [(MONDAY, OPENING + 1), (TUESDAY, OPENING + 3), (WEDNESDAY, OPENING + 6)]
        assert set(InFile.objects.values_list("status", flat=True)) == {"applied"}
        assert codes(early) == []

    def test_a_gap_stays_a_gap(self, account):
        early = take(bai2_of(THURSDAY, 3, opening=OPENING))
        take(bai2_of(MONDAY))

        assert codes(early) == ["statement_gap"]
        assert [day for day, _ in days()] == [MONDAY]

    def test_several_days_of_one_file_are_taken_in_their_order(self, account):
        later, first = bai2_of(TUESDAY, 5, opening=OPENING + 1), bai2_of(MONDAY, 1)
        both = later.split(b"99,")[0] + b"\n".join(first.split(b"\n")[1:])
        file = take(_with_trailer(both))

        assert codes(file) == []
        assert days() == [(MONDAY, OPENING + 1), (TUESDAY, OPENING + 6)]


class TestARailWithoutAnAccount:
    def test_keeps_statements_until_it_has_one(self, rail):
        file = take(bai2_of(MONDAY, 5_000))
        assert (file.status, file.next_attempt_at) == ("stored", None)

        in_force()
        reading.read_due(now=NOW)

        assert days() == [(MONDAY, OPENING + 5_000)]


class TestWhatPeopleDecide:
    def test_a_fault_is_never_let_pass(self, account):
        file = take(bai2_of(TUESDAY, 5_000))

        with pytest.raises(deciding.NotPossible):
            deciding.read_again(file_id=file.pk, staff="a", why="so", excuse=True, now=NOW)

    def test_it_is_read_again(self, rail, account):
        file = take(bai2_of(MONDAY, 5_000, opening=OPENING + 7))
        assert codes(file) == ["opening_differs"]
        in_force(cents=OPENING + 7)
        deciding.read_again(file_id=file.pk, staff="a", why="agreed anew", excuse=False, now=NOW)
        reading.read_due(now=NOW)

        assert days() == [(MONDAY, OPENING + 5_007)]

    def test_one_person_does_not_dismiss_it(self, account):
        file = take(bai2_of(TUESDAY, 5_000))

        with pytest.raises(deciding.NotPossible, match="two people"):
            deciding.resolve_file(file_id=file.pk, staff="a", why="so", now=NOW)


class TestAFileThatFails:
    def test_is_tried_again_and_holds_up_no_other(self, account):
        broken, right = store(bai2_of(TUESDAY)), store(bai2_of(MONDAY, 5_000))
        broken.chunks.all().update(content_token="x")

        reading.read_due(now=NOW)

        broken.refresh_from_db()
        assert (broken.status, broken.attempts) == ("stored", 1)
        assert broken.next_attempt_at == NOW + timedelta(minutes=1)
        assert InFile.objects.get(pk=right.pk).status == "applied"
