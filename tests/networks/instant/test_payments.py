"""Money out: one credit transfer, whatever the network says or does not say."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models import F

from balance import invariants
from common import leases
from common.clock import utc_now
from networks.base import (
    Accepted,
    Custody,
    InstructionConflict,
    InstructionRefused,
    NetworkUnavailable,
    Withdrawal,
)
from networks.instant import connecting, rails, reviewing, sending, taking
from networks.instant.models import Conversation, Message
from networks.instant.receiving import applying, storing
from tests.networks.instant import builders
from tests.networks.instant.builders import RAIL, account, make_rail, payment, waiting
from tests.networks.instant.life import hear, kinds, news, the, wait
from tests.networks.instant.operator import only

pytestmark = pytest.mark.django_db

SETTLED = {"rtp": "ACTC", "fednow": "ACSC"}
POSTED = {"rtp": "ACTC", "fednow": "ACCC"}
TIMED_OUT = {"rtp": "DS24", "fednow": "E997"}
ANN = "usr_ann"


@pytest.fixture
def paid(operator, bank, now):
    """A payment that was handed over."""
    told = payment()
    assert isinstance(bank.submit_many([told], now=now)[told.id], Accepted)
    return told


def silence(times):
    """Nobody answers, so many times."""
    for _ in range(times):
        wait(600)


def resolve(told, seen=""):
    """A person looks at it, by a clock that is ahead of the workers'."""
    row, ahead = the(told.id), utc_now() + timedelta(minutes=1)
    reviewing.resolve(row.pk, seen=seen or row.review_code, why="called", by=ANN, now=ahead)


def a_day_passes(told):
    day = timedelta(days=1, minutes=1)
    rows = Conversation.objects.filter(instruction_id=told.id)
    rows.update(review_since=F("review_since") - day, resolved_at=F("resolved_at") - day)


def findings():
    return [str(each) for each in invariants.check(now=utc_now(), full=True).findings]


def test_the_network_of_its_profile_carries_it(operator, bank):
    terms = bank.capabilities.methods.values()

    assert {each.carrier for each in terms} == {operator.name}


class TestHandingOver:
    def test_is_one_message(self, paid, operator, bank):
        order = only(operator.taken())

        assert (order.kind, order.end_to_end_id, order.amount) == ("pacs.008", paid.id, 1_234)
        assert (order.debtor.routing_number, order.debtor.account_number) == (
            builders.ROUTING,
            builders.ACCOUNT,
        )
        assert (order.creditor.account_number, order.creditor.name) == ("1000200", "Acme Lodz GmbH")
        assert (the(paid.id).status, Message.objects.get().status) == ("sent", "sent")
        assert kinds(bank) == []

    def test_under_the_same_id_gets_the_first_receipt(self, paid, operator, bank, now):
        again = bank.submit_many([paid], now=now)[paid.id]

        assert again == bank.find(paid.id)
        assert len(operator.taken()) == 1

    def test_with_other_terms_is_a_conflict(self, paid, operator, bank, now):
        other = payment(id=paid.id, amount=1_235)

        assert isinstance(bank.submit_many([other], now=now)[paid.id], InstructionConflict)
        assert len(operator.taken()) == 1

    def test_answers_each_for_itself(self, operator, bank, now):
        good = payment()
        bad = {
            "amount_above_limit": payment(amount=1_000_000_001),
            "routing_number_invalid": payment(account=account(routing_number="011000016")),
            "unsupported": payment(method="ach_credit"),
            "account_number_invalid": payment(account=account("1" * 35)),
            "account_number_invalid ": payment(account=account("12é4")),
            "account_number_invalid  ": payment(account=account("1\x002")),
            "account_number_invalid   ": payment(account=account(" ")),
            "name_unreadable": payment(account=account(holder_name="阿里")),
        }

        answers = bank.submit_many([good, *bad.values()], now=now)

        assert isinstance(answers[good.id], Accepted)
        refusals = {code: answers[each.id] for code, each in bad.items()}
        assert all(isinstance(each, InstructionRefused) for each in refusals.values())
        assert [each.code for each in refusals.values()] == [code.strip() for code in bad]
        assert len(operator.taken()) == 1

    def test_waits_while_the_rail_is_closed(self, operator, bank, now, tmp_path):
        make_rail(tmp_path, profile=operator.name, active=False)
        told = payment()

        assert isinstance(bank.submit_many([told], now=now)[told.id], NetworkUnavailable)
        assert (bank.find(told.id), Conversation.objects.count()) == (None, 0)


class TestAnswer:
    def test_settles_and_is_final(self, paid, operator, bank, now):
        order = only(operator.taken())
        operator.say(operator.report(order, SETTLED[operator.name], now=now))

        assert hear() == 1

        settled, final = news(bank)
        assert (settled.kind, final.kind) == ("settled", "final")
        assert settled.settlement_date == operator.profile.settlement_date(now)
        assert (settled.instruction_id, settled.amount) == (paid.id, 1_234)
        assert the(paid.id).status == "final"
        assert Message.objects.get(direction="out").status == "answered"
        (record,) = bank.records([paid.id])
        assert (record.is_final, record.amount) == (True, 1_234)

    def test_that_rejects_is_told_with_its_code(self, paid, operator, bank, now):
        operator.say(operator.report(only(operator.taken()), "RJCT", code="AC04", now=now))

        hear()

        assert kinds(bank) == ["rejected AC04"]
        assert bank.custody([paid.id]) == {}

    def test_that_comes_twice_is_told_once(self, paid, operator, bank, now):
        said = operator.report(only(operator.taken()), SETTLED[operator.name], now=now)
        operator.say(said, said)
        operator.say(said, is_duplicate=True)

        assert hear() == 3

        assert kinds(bank) == ["settled", "final"]
        assert Message.objects.get(direction="in").copies == 2

    def test_of_another_id_that_says_the_same_is_told_once(self, paid, operator, bank, now):
        order = only(operator.taken())
        for _ in range(2):
            operator.say(operator.report(order, SETTLED[operator.name], now=now))

        hear()

        assert kinds(bank) == ["settled", "final"]

    def test_that_contradicts_changes_nothing_and_alarms(self, paid, operator, bank, now):
        order = only(operator.taken())
        operator.say(operator.report(order, "RJCT", code="AC04", now=now))
        operator.say(operator.report(order, SETTLED[operator.name], now=now))

        hear()

        assert kinds(bank) == ["rejected AC04", "settled"]
        assert Message.objects.get(fault="contradicts").status == "faulty"
        assert (the(paid.id).status, the(paid.id).review_code) == ("rejected", "contradicted")
        assert not findings()

    def test_that_contradicts_is_told_once_and_put_to_a_person_each_time(
        self, paid, operator, bank, now
    ):
        order = only(operator.taken())
        operator.say(operator.report(order, "RJCT", code="AC04", now=now))
        for status in (SETTLED[operator.name], "ACWP"):
            operator.say(operator.report(order, status, now=now))
            hear()
            assert [row.pk for row in reviewing.conversations()] == [the(paid.id).pk]
            resolve(paid)
            assert not reviewing.conversations().exists()

        assert kinds(bank) == ["rejected AC04", "settled"]

    def test_that_contradicts_is_seen_before_another_matter_is_resolved(self, paid, operator, now):
        order = only(operator.taken())
        silence(5)
        operator.say(operator.report(order, "RJCT", code="AC04", now=now))
        operator.say(operator.report(order, SETTLED[operator.name], now=now))
        hear()

        with pytest.raises(reviewing.ReviewRefused):
            resolve(paid, seen="silent")


class TestPosting:
    @pytest.fixture
    def order(self, paid, operator, now):
        """It settled, and the receiving bank posts it later."""
        order = only(operator.taken())
        operator.say(operator.report(order, "ACWP", now=now))
        hear()
        return order

    def test_is_final_once_it_is_said(self, order, operator, bank, now):
        assert kinds(bank) == ["settled"]
        operator.say(operator.report(order, POSTED[operator.name], now=now))

        hear()

        assert kinds(bank) == ["final"]
        assert kinds(bank, days=10) == []

    def test_is_final_in_time_if_nobody_says_otherwise(self, order, bank):
        assert kinds(bank) == ["settled"]

        assert kinds(bank, days=6) == ["final"]

    def test_that_is_refused_waits_for_the_money(self, order, operator, paid, bank, now):
        operator.say(operator.report(order, "RJCT", code="AC04", now=now))
        hear()
        assert kinds(bank, days=10) == ["settled"]
        assert the(paid.id).status == "coming_back"

        back = operator.give_back(order, now=now)
        operator.say(back)
        hear()
        assert kinds(bank) == []  # it counts once the network says that it settled
        assert only(operator.taken()).status == "ACTC"
        operator.say(operator.report(back, SETTLED[operator.name], now=now))
        hear()

        assert kinds(bank) == ["returned AC04"]
        assert the(paid.id).status == "returned"

    def test_may_be_said_before_the_settlement(self, paid, operator, bank, now):
        order = only(operator.taken())
        operator.say(operator.report(order, POSTED[operator.name], now=now))
        operator.say(operator.report(order, "ACWP", now=now))

        hear()

        assert kinds(bank) == ["settled", "final"]


class TestSilence:
    def test_is_followed_by_what_the_profile_says(self, paid, operator, bank):
        order = only(operator.taken())
        assert wait(5) == 0

        assert wait(25) == 1

        if operator.name == "rtp":
            (again,) = operator.sent()
            assert (again.header.is_duplicate, again.message) == (True, order)
            return
        question = only(operator.taken())
        assert (question.kind, question.original_message_id) == ("pacs.028", order.message_id)
        assert question.original_end_to_end_id == paid.id

    def test_goes_on_for_ever_and_a_person_is_told(self, paid, operator, bank):
        for _ in range(4):
            assert wait(30) == 1
        assert the(paid.id).review_code == ""
        assert wait(30) == 1

        assert the(paid.id).review_code == "silent"
        assert (wait(30), wait(600)) == (0, 1)
        assert (the(paid.id).status, kinds(bank)) == ("sent", [])

    def test_that_lasts_is_told_again_a_day_after_a_person_looked(self, paid):
        silence(5)
        resolve(paid)
        wait(600)
        assert not reviewing.conversations().exists()

        a_day_passes(paid)
        wait(600)

        assert the(paid.id).review_code == "silent"
        assert reviewing.conversations().exists()

    def test_of_another_message_is_told_at_once(self, paid, operator, now):
        order = only(operator.taken())
        silence(5)
        resolve(paid)
        operator.say(operator.report(order, "RJCT", code=TIMED_OUT[operator.name], now=now))
        hear()
        silence(5)

        assert reviewing.conversations().get() == the(paid.id)

    def test_hides_nothing_else_that_a_person_has_to_look_at(self, paid, operator, now):
        order = only(operator.taken())
        operator.say(operator.report(order, "RJCT", code=TIMED_OUT[operator.name], now=now))
        hear()
        operator.say(operator.report(order, SETTLED[operator.name], now=now))
        hear()
        silence(6)

        assert the(paid.id).review_code == "contradicted"

    def test_of_a_payment_that_the_network_does_not_have(self, paid, operator, bank, now):
        if operator.name == "rtp":
            pytest.skip("RTP is told again, and not asked")
        order = only(operator.taken())
        wait(25)
        question = only(operator.taken())
        operator.say(
            operator.report(
                question,
                "RJCT",
                code="NOOR",
                now=now,
                original_instruction_id=order.instruction_id,
            )
        )

        hear()

        assert only(operator.taken()) == order
        assert bank.custody([paid.id]) == {}

    def test_of_a_payment_that_the_network_says_to_be_missing_and_names(
        self, paid, operator, bank, now
    ):
        """Not found is no rejection, whichever message it names: the first one may still come."""
        if operator.name == "rtp":
            pytest.skip("RTP is told again, and not asked")
        order = only(operator.taken())
        wait(25)
        operator.taken()
        for _ in range(2):
            operator.say(operator.report(order, "RJCT", code="NOOR", now=now))
            hear()

        assert (only(operator.taken()), kinds(bank)) == (order, [])
        operator.say(operator.report(order, "ACSC", now=now))
        hear()
        assert kinds(bank) == ["settled", "final"]

    @pytest.mark.parametrize("is_at_the_door", [True, False])
    def test_after_which_it_is_refused_says_nothing_of_the_first_one(
        self, paid, operator, bank, now, is_at_the_door
    ):
        """It came after the network had said that it does not have it."""
        if operator.name == "rtp":
            pytest.skip("RTP is told again, and not asked")
        hear()
        order = only(operator.taken())
        wait(25)
        operator.say(operator.report(only(operator.taken()), "RJCT", code="NOOR", now=now))
        rail, row = rails.current(RAIL), Message.objects.get(name="pacs.008")
        if is_at_the_door:
            for each in connecting.transport(rail).receive(limit=9, wait=timedelta()):
                storing.store(rail, each.content, now=now)
            applying.apply_new(rail, now=now)
            (row,) = leases.claim(Message.objects.filter(pk=row.pk), now=now, limit=1)
            refusal = sending.Result(sending.Outcome.NOT_TAKEN, "KNOWN")
            sending._record(rail, [sending._Letter(row, row.content)], [refusal], now)
        else:
            hear()
            operator.refuse(order, "E990", now=now)
            hear()

        assert (kinds(bank), the(paid.id).status) == ([], "sent")
        operator.say(operator.report(order, "ACSC", now=now))
        hear()
        assert kinds(bank) == ["settled", "final"]

    def test_of_what_is_never_found_is_told_to_a_person(self, paid, operator, now):
        if operator.name == "rtp":
            pytest.skip("RTP is told again, and not asked")
        for _ in range(5):
            assert the(paid.id).review_code == ""
            operator.taken()
            wait(30)
            (question,) = operator.taken()
            operator.say(operator.report(question, "RJCT", code="NOOR", now=now))
            hear()

        assert the(paid.id).review_code == "silent"

    def test_of_an_operator_that_cannot_be_reached(self, operator, bank, now, tmp_path):
        connecting.transport(rails.current(RAIL))
        (tmp_path / "outbound").rmdir()
        told = payment()

        assert isinstance(bank.submit_many([told], now=now)[told.id], Accepted)

        assert Message.objects.get().status == "silent"
        assert bank.custody([told.id]) == {told.id: Custody.LEAVING}
        (tmp_path / "outbound").mkdir()
        wait(30)
        assert (
            only(operator.taken()).kind == {"rtp": "pacs.008", "fednow": "pacs.028"}[operator.name]
        )


class TestTimeOut:
    def test_is_ordered_again_under_a_new_id_three_times_at_most(self, paid, operator, bank, now):
        orders = []
        for _ in range(3):
            order = only(operator.taken())
            orders.append(order)
            operator.say(operator.report(order, "RJCT", code=TIMED_OUT[operator.name], now=now))
            hear()

        assert operator.taken() == []
        assert len({order.message_id for order in orders}) == 3
        assert {order.end_to_end_id for order in orders} == {paid.id}
        assert kinds(bank) == [f"rejected {TIMED_OUT[operator.name]}"]

    def test_of_an_order_that_was_replaced_changes_nothing(self, paid, operator, bank, now):
        first = only(operator.taken())
        for _ in range(2):
            operator.say(operator.report(first, "RJCT", code=TIMED_OUT[operator.name], now=now))
            hear()

        second = only(operator.taken())
        operator.say(operator.report(second, SETTLED[operator.name], now=now))
        hear()

        assert kinds(bank) == ["settled", "final"]

    def test_after_which_the_first_settles_is_an_alarm(self, paid, operator, bank, now):
        first = only(operator.taken())
        operator.say(operator.report(first, "RJCT", code=TIMED_OUT[operator.name], now=now))
        hear()
        operator.say(operator.report(first, SETTLED[operator.name], now=now))
        hear()

        assert kinds(bank) == []
        assert the(paid.id).review_code == "contradicted"

    def test_after_which_the_first_settles_lets_no_rejection_decide(
        self, paid, operator, bank, now
    ):
        """The network contradicts itself: nobody knows that no money moved."""
        first = only(operator.taken())
        operator.say(operator.report(first, "RJCT", code=TIMED_OUT[operator.name], now=now))
        hear()
        second = only(operator.taken())
        operator.say(operator.report(first, SETTLED[operator.name], now=now))
        operator.say(operator.report(second, "RJCT", code="RC04", now=now))
        hear()

        assert (kinds(bank), the(paid.id).status) == ([], "sent")
        assert (the(paid.id).review_code, wait(600)) == ("contradicted", 0)


class TestWaiting:
    """For money at the network."""

    def test_ends_when_there_is_some(self, operator, bank, now):
        told = payment()
        row = waiting(told, now)
        assert bank.custody([told.id]) == {told.id: Custody.OURS}

        assert taking.release_waiting(RAIL, now=now) == 1
        assert taking.release_waiting(RAIL, now=now) == 0
        wait(0)

        order = only(operator.taken())
        assert (order.instruction_id, order.end_to_end_id) == (row.reference, told.id)
        assert the(told.id).waits_for == ""

    def test_lets_it_be_withdrawn(self, operator, bank, now):
        told, never = payment(), payment()
        waiting(told, now)

        assert bank.withdraw(told.id, now=now) == Withdrawal.WITHDRAWN
        assert bank.withdraw(told.id, now=now) == Withdrawal.WITHDRAWN
        assert bank.withdraw(never.id, now=now) == Withdrawal.TOO_LATE
        assert kinds(bank) == ["rejected withdrawn"]
        assert taking.release_waiting(RAIL, now=now) == 0


class TestWithdrawing:
    def test_is_too_late_for_what_was_sent(self, paid, bank, now):
        assert bank.withdraw(paid.id, now=now) == Withdrawal.TOO_LATE


def test_a_payment_whose_worker_died_is_asked_for_and_sent_once(operator, bank, now):
    """It was counted as handed over, and nobody knows whether it was."""
    if operator.name == "rtp":
        pytest.skip("RTP is told again, and not asked")
    told = payment()
    bank.submit_many([told], now=now)
    order = only(operator.taken())
    Message.objects.update(status="to_send", next_attempt_at=now, sent_at=None)
    wait(90)
    question = only(operator.taken())
    operator.say(operator.report(question, "RJCT", code="NOOR", now=now))

    hear()

    assert only(operator.taken()) == order
