from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction

from networks.base import (
    AccountType,
    EventKind,
    Instruction,
    InstructionConflict,
    InstructionRefused,
    Method,
    NetworkUnavailable,
    Purpose,
)
from networks.sandbox import scripts
from networks.sandbox.bank import SandboxBank
from networks.sandbox.models import FORMERLY_FINAL, SandboxEvent, SandboxInstruction
from tests.networks.asking import submit
from tests.networks.sandbox.builders import account, instruction

NOW = datetime(2026, 11, 20, 17, 0, tzinfo=UTC)
LATER = NOW + timedelta(days=365)

bank = SandboxBank()
pytestmark = pytest.mark.django_db


def story(*, now: datetime = NOW, id_prefix: str = "") -> list[tuple[str, str, str]]:
    events = bank.poll(now=now, limit=100, id_prefix=id_prefix)
    return [(event.instruction_id, event.kind, event.code) for event in events]


class TestSubmit:
    def test_gives_a_receipt_with_a_trace_number_for_ach(self):
        receipt = submit(bank, instruction(), now=NOW)

        row = SandboxInstruction.objects.get()
        assert receipt.reference == f"SBX{row.number:012d}"
        assert receipt.trace_number == f"09990000{row.number:07d}"
        assert (row.external_id, row.amount, row.accepted_at) == ("ftx_1", 25_000, NOW)

    def test_gives_no_trace_number_for_rtp(self):
        receipt = submit(bank, instruction(method=Method.RTP_REQUEST), now=NOW)

        assert receipt.trace_number == ""
        assert receipt.reference.startswith("SBX")

    def test_returns_the_first_receipt_again_and_counts_the_calls(self):
        first = submit(bank, instruction("10001"), now=NOW)

        again = [submit(bank, instruction("10001"), now=LATER) for _ in range(3)]

        assert again == [first] * 3
        assert SandboxInstruction.objects.get().submissions == 4
        assert story() == [("ftx_1", "accepted", ""), ("ftx_1", "returned", "R01")]

    def test_posts_different_ids_separately(self):
        receipts = {submit(bank, instruction(id=f"ftx_{n}"), now=NOW) for n in range(3)}

        assert len(receipts) == 3
        assert len({receipt.trace_number for receipt in receipts}) == 3

    @pytest.mark.parametrize(
        "other",
        [
            replace(instruction(), amount=25_001),
            replace(instruction(), method=Method.ACH_CREDIT),
            replace(instruction(), account=account("000123456780")),
            replace(instruction(), account=account(routing_number="121000358")),
            replace(instruction(), account=account(account_type=AccountType.SAVINGS)),
        ],
    )
    def test_refuses_a_known_id_with_other_terms_and_leaves_the_first_alone(self, other):
        first = submit(bank, instruction(), now=NOW)

        with pytest.raises(InstructionConflict, match="ftx_1"):
            submit(bank, other, now=NOW)

        row = SandboxInstruction.objects.get()
        assert (row.submissions, row.amount, row.method) == (1, 25_000, "ach_debit")
        assert bank.find("ftx_1") == first
        assert SandboxEvent.objects.count() == 2

    @pytest.mark.parametrize(
        ("method", "amount"),
        [(Method.ACH_DEBIT, 10_000_000_000), (Method.RTP_REQUEST, 1_000_000_001)],
    )
    def test_refuses_more_than_the_network_carries_and_keeps_nothing(self, method, amount):
        with pytest.raises(InstructionRefused) as refusal:
            submit(bank, instruction(method=method, amount=amount), now=NOW)

        assert refusal.value.code == "unsupported"
        assert not SandboxInstruction.objects.exists()

    @pytest.mark.parametrize(
        ("method", "amount"),
        [(Method.ACH_DEBIT, 9_999_999_999), (Method.RTP_CREDIT, 1_000_000_000)],
    )
    def test_carries_the_largest_amounts(self, method, amount):
        submit(bank, instruction(method=method, amount=amount), now=NOW)

        assert {event.amount for event in bank.poll(now=NOW, limit=9)} == {amount}

    def test_stores_no_account_number(self):
        submit(bank, instruction("4929000011112222"), now=NOW)

        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT row_to_json(i)::text || row_to_json(e)::text FROM"
                " sandbox_bank_sandboxinstruction i JOIN sandbox_bank_sandboxevent e"
                " ON e.instruction_id = i.number"
            )
            stored = "".join(text for (text,) in cursor.fetchall())
        assert "ftx_1" in stored
        assert "4929000011112222" not in stored
        assert "2222" not in stored


class TestManyTogether:
    def test_are_answered_one_by_one(self):
        first = submit(bank, instruction(id="ftx_known"), now=NOW)

        answers = bank.submit_many(
            [
                instruction(id="ftx_new"),
                instruction(id="ftx_known"),
                instruction("10001", id="ftx_returned"),
                instruction("30002", id="ftx_silent"),
                instruction(id="ftx_refused", amount=10_000_000_000),
            ],
            now=LATER,
        )
        again = bank.submit_many(
            [instruction(id="ftx_new", amount=1), instruction(id="ftx_returned", amount=1)],
            now=LATER,
        )

        assert answers["ftx_new"] == bank.find("ftx_new")
        assert answers["ftx_known"] == first
        assert answers["ftx_returned"] == bank.find("ftx_returned")
        assert isinstance(answers["ftx_silent"], NetworkUnavailable)
        assert isinstance(answers["ftx_refused"], InstructionRefused)
        assert {type(each) for each in again.values()} == {InstructionConflict}
        told = [each for each in story(now=LATER) if each[0] == "ftx_returned"]
        assert told == [("ftx_returned", "accepted", ""), ("ftx_returned", "returned", "R01")]
        assert dict(SandboxInstruction.objects.values_list("external_id", "submissions")) == {
            "ftx_known": 2,
            "ftx_new": 1,
            "ftx_returned": 1,
            "ftx_silent": 1,
        }

    def test_cost_as_many_statements_as_one(self, django_assert_num_queries):
        with django_assert_num_queries(6):  # with those that begin and end the transaction
            bank.submit_many([instruction()], now=NOW)
        many = [instruction(id=f"ftx_{number}") for number in range(10, 210)]
        with django_assert_num_queries(6):
            bank.submit_many(many, now=NOW)

        assert SandboxInstruction.objects.count() == 201
        assert SandboxEvent.objects.count() == 402

    def test_of_none_nothing_is_asked(self, django_assert_num_queries):
        with django_assert_num_queries(0):
            assert bank.submit_many([], now=NOW) == {}


class TestOutage:
    def test_ends_with_the_third_call(self):
        for _ in range(2):
            with pytest.raises(NetworkUnavailable):
                submit(bank, instruction("30002"), now=NOW)
            assert bank.find("ftx_1") is None
            assert story() == []

        receipt = submit(bank, instruction("30002"), now=NOW)

        assert bank.find("ftx_1") == receipt
        assert story() == [("ftx_1", "accepted", ""), ("ftx_1", "final", "")]
        assert SandboxInstruction.objects.get().submissions == 3

    def test_is_counted_for_each_instruction_alone(self):
        with pytest.raises(NetworkUnavailable):
            submit(bank, instruction("30002", id="ftx_1"), now=NOW)
        with pytest.raises(NetworkUnavailable):
            submit(bank, instruction("30002", id="ftx_2"), now=NOW)

        assert bank.find("ftx_1") is bank.find("ftx_2") is None


class TestFind:
    def test_knows_nothing_of_what_never_arrived(self):
        assert bank.find("ftx_1") is None


class TestPoll:
    def test_tells_the_whole_event(self):
        receipt = submit(bank, instruction("10001"), now=NOW)

        returned = bank.poll(now=NOW, limit=10)[1]

        assert returned.id.startswith("sbe_")
        assert (returned.network, returned.instruction_id) == ("sandbox", "ftx_1")
        assert (returned.kind, returned.code) == (EventKind.RETURNED, "R01")
        assert returned.reason == "Insufficient funds"
        assert (returned.amount, returned.currency) == (25_000, "USD")
        assert (returned.reference, returned.occurred_at) == (receipt.reference, NOW)

    def test_tells_in_the_word_of_today_what_the_last_release_wrote(self):
        submit(bank, instruction(), now=NOW)
        SandboxEvent.objects.filter(kind=EventKind.FINAL).update(kind=FORMERLY_FINAL)

        told = bank.poll(now=NOW, limit=10)
        bank.acknowledge(event.id for event in told)

        assert [event.kind for event in told] == [EventKind.ACCEPTED, EventKind.FINAL]
        assert [record.is_final for record in bank.records(["ftx_1"])] == [True]

    def test_tells_again_until_acknowledged(self):
        submit(bank, instruction(), now=NOW)
        first, second = bank.poll(now=NOW, limit=10)
        assert bank.poll(now=NOW, limit=10) == [first, second]

        bank.acknowledge([first.id])
        bank.acknowledge([first.id, "sbe_unknown"])

        assert bank.poll(now=NOW, limit=10) == [second]
        bank.acknowledge([second.id])
        assert bank.poll(now=LATER, limit=10) == []

    def test_tells_only_what_has_happened(self, settings):
        settings.SANDBOX_PACE = "seconds"
        submit(bank, instruction("20010"), now=NOW)

        told = [len(story(now=NOW + timedelta(seconds=n))) for n in range(5)]

        assert told == [0, 1, 2, 3, 3]

    def test_keeps_the_order_of_each_instruction_within_any_limit(self):
        for n in range(3):
            submit(bank, instruction("20010", id=f"ftx_{n}"), now=NOW)

        seen = []
        while events := bank.poll(now=NOW, limit=2):
            assert len(events) <= 2
            seen += [(event.instruction_id, event.kind) for event in events]
            bank.acknowledge(event.id for event in events)

        assert sorted(set(seen)) == sorted(seen)
        for n in range(3):
            kinds = [kind for instruction_id, kind in seen if instruction_id == f"ftx_{n}"]
            assert kinds == ["accepted", "final", "returned"]

    def test_tells_the_oldest_news_first(self, settings):
        settings.SANDBOX_PACE = "seconds"
        submit(bank, instruction(id="ftx_late"), now=NOW + timedelta(seconds=10))
        submit(bank, instruction(id="ftx_early"), now=NOW)

        assert [instruction_id for instruction_id, _, _ in story(now=LATER)] == [
            "ftx_early",
            "ftx_early",
            "ftx_late",
            "ftx_late",
        ]

    def test_keeps_to_the_ids_asked_for(self):
        submit(bank, instruction(id="ftx_1"), now=NOW)
        submit(bank, instruction(id="pay_1", method=Method.ACH_CREDIT), now=NOW)
        submit(bank, instruction(id="ftxx1"), now=NOW)

        assert {id for id, _, _ in story(id_prefix="ftx_")} == {"ftx_1"}
        assert {id for id, _, _ in story(id_prefix="pay_")} == {"pay_1"}
        assert len(story()) == 6

    def test_takes_one_query(self, django_assert_num_queries):
        for n in range(5):
            submit(bank, instruction(id=f"ftx_{n}"), now=NOW)

        with django_assert_num_queries(1):
            assert len(bank.poll(now=NOW, limit=100)) == 10


class TestMicroDeposits:
    def submit(self, number="50001", *, now=NOW):
        parts = [("d1", Method.ACH_CREDIT, 11), ("d2", Method.ACH_CREDIT, 22)]
        return bank.submit_many(
            [
                Instruction(
                    id=id,
                    method=method,
                    amount=amount,
                    account=account(number),
                    purpose=Purpose.VERIFICATION,
                )
                for id, method, amount in [*parts, ("d3", Method.ACH_DEBIT, 33)]
            ],
            now=now,
        )

    def test_are_of_known_amounts_and_one_wrong_guess_is_the_last(self):
        terms = bank.capabilities.verification

        assert (terms.amounts, terms.last_try) == ((11, 22), (33, 44))

    def test_are_needed_for_the_verification_numbers_only(self):
        needed = bank.capabilities.verification.needed

        assert needed(account("50000"))
        assert needed(account("50001"))
        assert not needed(account())

    def test_arrive_one_by_one(self):
        receipts = self.submit()

        assert len({each.trace_number for each in receipts.values()}) == 3
        assert sorted(story()) == [
            (id, kind, "") for id in ("d1", "d2", "d3") for kind in ("accepted", "final")
        ]
        assert {event.amount for event in bank.poll(now=NOW, limit=10)} == {11, 22, 33}

    def test_come_back_one_by_one_from_an_account_that_does_not_exist(self):
        self.submit("50000")

        assert sorted(story()) == [
            (id, *said)
            for id in ("d1", "d2", "d3")
            for said in (("accepted", ""), ("returned", "R03"))
        ]

    def test_a_debit_for_another_purpose_completes(self):
        assert scripts.steps_for(Method.ACH_DEBIT, "50000") == scripts.COMPLETES

    def test_are_sent_once(self):
        first = self.submit()

        assert self.submit(now=LATER) == first
        assert set(SandboxInstruction.objects.values_list("submissions", flat=True)) == {2}
        assert len(story(now=LATER)) == 6


class SecondBank(SandboxBank):
    name = "second"


class TestBesideAnotherBank:
    """Each knows what was handed to it, and nothing of the other's."""

    def test_tells_and_acknowledges_only_its_own_events(self):
        second = SecondBank()
        submit(bank, instruction(id="ftx_1"), now=NOW)
        submit(second, instruction(id="ftx_2"), now=NOW)
        of_first, of_second = (each.poll(now=LATER, limit=100) for each in (bank, second))

        second.acknowledge(event.id for event in [*of_first, *of_second])

        assert {(each.network, each.instruction_id) for each in of_first} == {("sandbox", "ftx_1")}
        assert {(each.network, each.instruction_id) for each in of_second} == {("second", "ftx_2")}
        assert bank.poll(now=LATER, limit=100) == of_first
        assert second.poll(now=LATER, limit=100) == []

    def test_finds_and_shows_only_its_own_instructions(self):
        second = SecondBank()
        receipt = submit(bank, instruction(id="ftx_1"), now=NOW)

        assert (bank.find("ftx_1"), second.find("ftx_1")) == (receipt, None)
        assert [each.instruction_id for each in bank.records(["ftx_1"])] == ["ftx_1"]
        assert second.records(["ftx_1"]) == []

    def test_takes_an_id_that_the_other_bank_has_as_its_own(self):
        first = submit(bank, instruction(id="ftx_1"), now=NOW)
        second = submit(SecondBank(), instruction(id="ftx_1", amount=1), now=NOW)

        assert first.reference != second.reference
        assert set(SandboxInstruction.objects.values_list("network", "submissions")) == {
            ("sandbox", 1),
            ("second", 1),
        }


@pytest.mark.django_db(transaction=True)
def test_the_bank_is_never_part_of_a_callers_transaction():
    with pytest.raises(RuntimeError, match="durable"), transaction.atomic():
        submit(bank, instruction(), now=NOW)

    assert bank.find("ftx_1") is None
