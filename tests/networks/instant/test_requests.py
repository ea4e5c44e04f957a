"""Money in: requests for payment, what payers' banks say, and the money that comes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from common import leases
from networks.base import Accepted
from networks.instant import rails, sending, tasks
from networks.instant.models import Conversation, InstantEvent, InstantLine, Message
from networks.instant.receiving import applying, listening, storing
from networks.instant.transport.https import HttpsSettings, HttpsTransport
from tests.networks.instant.builders import ACCOUNT, RAIL, request
from tests.networks.instant.life import hear, kinds, news, received, the
from tests.networks.instant.operator import only
from tests.networks.instant.transport.server import (
    Keys,
    Server,
    answer,
    answered,
    identity,
    message,
)

pytestmark = pytest.mark.django_db

SETTLED = {"rtp": "ACTC", "fednow": "ACSC"}


@pytest.fixture
def told(operator, bank, now):
    """A request that was handed over."""
    told = request(now)
    assert isinstance(bank.submit_many([told], now=now)[told.id], Accepted)
    return told


@pytest.fixture
def asked(told, operator):
    return only(operator.taken())


def pay(operator, asked, now, **changes):
    """The payer's bank sends the money, and the network says that it settled."""
    money = operator.payment_of(asked, now=now, **changes)
    operator.say(money)
    hear()
    ours = only(operator.taken())
    operator.say(operator.report(money, SETTLED[operator.name], now=now))
    hear()
    return ours


def credit():
    return Conversation.objects.get(kind="credit")


class TestRequest:
    def test_says_who_pays_whom_until_when(self, asked, told, now):
        assert (asked.kind, asked.end_to_end_id, asked.amount) == ("pain.013", told.id, 1_234)
        assert asked.expires_at == told.expires_at.replace(microsecond=0)
        assert asked.creditor.account_number == ACCOUNT
        assert asked.debtor.account_number == "1000200"

    def test_is_accepted_by_the_payers_bank(self, asked, told, operator, bank, now):
        operator.say(operator.answer(asked, "ACTC", now=now))
        hear()

        assert kinds(bank) == ["accepted"]
        assert the(told.id).status == "accepted"

    def test_that_is_refused_has_failed(self, asked, told, operator, bank, now):
        operator.say(operator.answer(asked, "RJCT", code="CUST", now=now))
        hear()

        assert kinds(bank) == ["rejected CUST"]

    def test_that_the_network_does_not_deliver_has_failed(self, asked, operator, bank, now):
        operator.say(operator.report(asked, "RJCT", code="RC03", now=now))
        hear()

        assert kinds(bank) == ["rejected RC03"]

    def test_keeps_every_answer(self, asked, told, operator, bank, now):
        said = ["RCVD", "PRES", "ACTC"] if operator.name == "fednow" else ["ACTC"]
        operator.say(*(operator.answer(asked, status, now=now) for status in said))
        hear()

        kept = Message.objects.filter(conversation=the(told.id), direction="in")
        assert list(kept.order_by("pk").values_list("said", flat=True)) == said
        assert kinds(bank) == ["accepted"]


class TestMoney:
    def test_counts_once_it_was_answered_and_settled(self, asked, told, operator, bank, now):
        operator.say(operator.answer(asked, "ACTC", now=now))
        money = operator.payment_of(asked, now=now)
        operator.say(money)
        hear()
        assert kinds(bank) == ["accepted"]
        ours = only(operator.taken())
        assert (ours.kind, ours.status, ours.original_message_id) == (
            "pacs.002",
            "ACTC",
            money.message_id,
        )

        operator.say(operator.report(money, SETTLED[operator.name], now=now))
        hear()

        settled, final = news(bank)
        assert (settled.kind, final.kind) == ("settled", "final")
        assert (settled.instruction_id, settled.amount) == (told.id, 1_234)
        assert (the(told.id).status, credit().status) == ("final", "final")
        assert (credit().original, credit().tenant_id) == (the(told.id), "ten_acme")

    @pytest.mark.parametrize(
        ("minutes", "code"), [(9, ""), (10, "not_advised"), (5 * 24 * 60, "not_advised")]
    )
    def test_of_which_the_network_says_nothing_is_missed(
        self, asked, told, operator, now, minutes, code
    ):
        """The request waits for it, and does not expire: somebody has to know."""
        hear()
        rail, before = rails.current(RAIL), now - timedelta(minutes=minutes)
        money = operator.payment_of(asked, now=before)
        storing.store(rail, operator.content(money), now=before)
        applying.apply_new(rail, now=before)

        tasks.finish()

        assert (credit().review_code, the(told.id).status) == (code, "paying")

    def test_without_an_answer_before_counts_as_well(self, asked, operator, bank, now):
        pay(operator, asked, now)

        assert kinds(bank) == ["settled", "final"]

    def test_that_does_not_settle_moves_nothing(self, asked, told, operator, bank, now):
        money = operator.payment_of(asked, now=now)
        operator.say(money, operator.report(money, "RJCT", code="DS24", now=now))
        hear()

        assert (kinds(bank), the(told.id).status, credit().status) == ([], "sent", "rejected")
        operator.taken()
        pay_again = operator.payment_of(asked, now=now)
        operator.say(pay_again)
        hear()
        operator.say(operator.report(pay_again, SETTLED[operator.name], now=now))
        hear()
        assert kinds(bank) == ["settled", "final"]

    @pytest.mark.parametrize(
        ("changes", "mismatch"),
        [({"amount": 1_233}, "other_amount"), ({"end_to_end_id": "NEVER"}, "no_request")],
    )
    def test_that_does_not_fit_is_for_a_person(
        self, asked, told, operator, bank, now, changes, mismatch
    ):
        ours = pay(operator, asked, now, **changes)

        assert ours.status == "ACTC"
        assert news(bank) == []
        assert received() == ["received"]
        assert InstantEvent.objects.get().amount == changes.get("amount", 1_234)
        assert (the(told.id).status, credit().review_code) == ("sent", mismatch)
        assert credit().tenant_id == ""

    def test_that_comes_twice_counts_once(self, asked, told, operator, bank, now):
        pay(operator, asked, now)
        assert kinds(bank) == ["settled", "final"]

        pay(operator, asked, now)

        assert (news(bank), received()) == ([], ["received"])
        assert Conversation.objects.get(mismatch="second_payment").review_code == "second_payment"

    def test_while_another_payment_is_answered_is_the_second(self, asked, operator, bank, now):
        one, two = (operator.payment_of(asked, now=now) for _ in range(2))
        operator.say(one, two)
        operator.say(
            *(operator.report(each, SETTLED[operator.name], now=now) for each in (one, two))
        )
        hear()

        assert (kinds(bank), received()) == (["settled", "final"], ["received"])

    def test_for_another_account_is_refused(self, asked, told, operator, bank, now):
        elsewhere = replace(asked.creditor, account_number="4000323457")
        operator.say(operator.payment_of(asked, now=now, creditor=elsewhere))
        hear()

        ours = only(operator.taken())
        assert (ours.status, str(ours.reason)) == ("RJCT", "AC03")
        assert (kinds(bank), the(told.id).status, credit().status) == ([], "sent", "rejected")

    def test_is_advised_before_our_answer_is_written_down(self, asked, operator, bank, now):
        """One worker hands our answer over, while another one hears what came of it."""
        hear()
        money = operator.payment_of(asked, now=now)
        rail = rails.current(RAIL)
        storing.store(rail, operator.content(money), now=now)
        applying.apply_new(rail, now=now)
        ours = Message.objects.filter(direction="out", name="pacs.002")
        letters = [
            sending._Letter(row, row.content) for row in leases.claim(ours, now=now, limit=1)
        ]

        operator.say(operator.report(money, SETTLED[operator.name], now=now))
        hear()
        sending._send(rail, letters, now)

        assert kinds(bank) == ["settled", "final"]
        assert (ours.get().status, ours.get().next_attempt_at) == ("answered", None)

    def test_of_the_same_message_is_answered_again(self, asked, operator, bank, now):
        money = operator.payment_of(asked, now=now)
        operator.say(money)
        hear()
        first = only(operator.taken())

        operator.say(money, is_duplicate=True)
        hear()

        assert only(operator.taken()) == first
        assert Conversation.objects.filter(kind="credit").count() == 1

    def test_of_another_message_under_a_known_id_is_kept_and_moves_nothing(
        self, asked, told, operator, bank, now
    ):
        money = operator.payment_of(asked, now=now)
        operator.say(replace(money, amount=1))
        operator.say(money)
        hear()

        assert Message.objects.get(fault="id_reused").message_id == money.message_id
        assert (credit().amount, the(told.id).status) == (1, "sent")


class TestExpiry:
    def test_ends_a_request_that_nobody_paid(self, operator, bank, now):
        told = request(now, expires_at=now - timedelta(seconds=2))
        bank.submit_many([told], now=now)
        hear()

        assert kinds(bank) == ["rejected EXPIRED"]
        assert the(told.id).status == "expired"

    def test_waits_for_what_the_network_has(self, operator, bank, now):
        """Money that was sent in time counts, however late we hear of it."""
        told = request(now, expires_at=now - timedelta(seconds=2))
        bank.submit_many([told], now=now)
        asked = only(operator.taken())
        money = operator.payment_of(asked, now=now - timedelta(seconds=10))
        operator.say(money)
        hear()
        operator.say(operator.report(money, SETTLED[operator.name], now=now))
        hear()

        assert kinds(bank) == ["settled", "final"]

    def test_waits_for_what_is_behind_messages_too_large_to_come_at_once(
        self, operator, bank, now, tmp_path
    ):
        """The network has fifty messages of a megabyte each, and the payer's money after them."""
        hear()
        told = request(now, expires_at=now - timedelta(seconds=2))
        bank.submit_many([told], now=now)
        money = operator.payment_of(only(operator.taken()), now=now - timedelta(seconds=10))
        large = answer("200 OK", b"x" * ((32 << 20) + 1))
        some = answered({"messages": [message(str(n), b"<A%d/>" % n) for n in range(12)]})
        last = answered({"messages": [message("99", operator.content(money))]})
        taken = answered({"acknowledged": 1})
        us, theirs = Keys(), Keys()
        server = Server(tmp_path, theirs, us)
        server.script = [large, some, taken, last, taken]
        over = HttpsSettings(base_url=server.url, identity=identity(us, theirs), seconds=20)
        line = HttpsTransport(over)
        for status in ("sent", "paying"):
            listening._hear(rails.current(RAIL), line)
            assert (kinds(bank), the(told.id).status) == ([], status)
        line.close()
        server.close()

        assert [each.split()[1] for each in server.requests if each.startswith(b"GET")] == [
            b"/rtp/messages?limit=50&wait=0",
            b"/rtp/messages?limit=12&wait=0",
            b"/rtp/messages?limit=50&wait=0",
        ]

    def test_makes_money_that_was_sent_later_a_persons(self, operator, bank, now):
        told = request(now, expires_at=now - timedelta(seconds=10))
        bank.submit_many([told], now=now)
        asked = only(operator.taken())

        pay(operator, asked, now)

        assert (kinds(bank), received()) == (["rejected EXPIRED"], ["received"])
        assert credit().review_code == "after_expiry"

    def test_does_not_end_what_the_rail_was_not_heard_of(self, operator, bank, now, tmp_path):
        told = request(now, expires_at=now - timedelta(seconds=2))
        bank.submit_many([told], now=now)
        (tmp_path / "inbound").rename(tmp_path / "away")
        hear()

        assert (kinds(bank), the(told.id).status) == ([], "sent")
        assert InstantLine.objects.get(pk=RAIL).trouble != ""
