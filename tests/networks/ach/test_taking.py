"""Instructions become entries, once; what cannot be sent is refused by name."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from common import crypto
from networks.ach import freezing
from networks.ach.models import AchEntry, Originator
from networks.ach.network import AchNetwork
from networks.base import (
    Accepted,
    AccountType,
    Authorization,
    EventKind,
    HolderType,
    InstructionConflict,
    InstructionRefused,
    Method,
    NetworkUnavailable,
    Purpose,
    Speed,
    Withdrawal,
)
from tests.corruption import tamper
from tests.networks.ach.builders import (
    BANK,
    FREEZE,
    NOON,
    RAIL,
    account,
    instruction,
    make_originator,
    make_rail,
    take,
)

# `submit_many` has a transaction of its own.
pytestmark = pytest.mark.django_db(transaction=True)

PERSON = account(holder_type=HolderType.INDIVIDUAL, holder_name="José Ångström-Weiß")


@pytest.fixture(autouse=True)
def _bank():
    make_rail()
    make_originator()


def answer(*instructions, bank=BANK):
    answers = bank.submit_many(instructions, now=NOON)
    return [getattr(answers[each.id], "code", answers[each.id]) for each in instructions]


class TestEntry:
    def test_says_what_the_bank_needs(self):
        (row,) = take(instruction(id="ftx_1", individual_id="cust-77", amount=500))

        assert (row.sec, row.transaction_code, row.description) == ("CCD", 27, "TOPUP")
        assert (row.name, row.individual_id) == ("ACME LODZ GMBH", "CUST-77")
        assert (row.company_name, row.company_id) == ("BALLAST", "1234567890")
        assert (row.status, row.trace_number, row.amount) == ("waiting", "", 500)
        assert row.promised_on == date(2026, 11, 25)

    def test_keeps_the_account_number_encrypted(self):
        (row,) = take(instruction(account=account("9876543210")))

        assert "9876543210" not in row.account_token
        assert (row.account_number, row.account_last4) == ("9876543210", "3210")
        assert row.account_fingerprint == crypto.fingerprint("9876543210", purpose="ach.account")

    def test_has_the_account_number_in_upper_case(self):
        (row,) = take(instruction(account=account("ab-12cd")))

        assert row.account_number == "AB-12CD"

    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            ({}, ("CCD", "", 27)),
            ({"method": Method.ACH_CREDIT, "purpose": Purpose.PAYMENT}, ("CCD", "", 22)),
            ({"account": account(account_type=AccountType.SAVINGS)}, ("CCD", "", 37)),
            (
                {"account": PERSON, "authorization": Authorization.WEB_SINGLE},
                ("WEB", "S", 27),
            ),
            (
                {"account": PERSON, "authorization": Authorization.WEB_RECURRING},
                ("WEB", "R", 27),
            ),
            ({"account": PERSON, "method": Method.ACH_CREDIT}, ("PPD", "", 22)),
            (
                {"account": PERSON, "purpose": Purpose.VERIFICATION, "authorization": None},
                ("PPD", "", 27),
            ),
        ],
    )
    def test_has_the_class_of_its_holder_and_authorization(self, changes, expected):
        (row,) = take(instruction(**changes))

        assert (row.sec, row.payment_type, row.transaction_code) == expected

    def test_of_a_test_is_described_as_one(self):
        (row,) = take(instruction(purpose=Purpose.VERIFICATION, amount=17))

        assert row.description == "ACCTVERIFY"

    def test_of_a_tenant_with_a_company_of_its_own(self):
        make_originator(tenant_id="ten_own", company_name="OWN INC", company_id="9876543210")

        own, other = take(instruction(tenant_id="ten_own"), instruction(tenant_id="ten_x"))

        assert (own.company_name, other.company_name) == ("OWN INC", "BALLAST")

    def test_promises_the_same_day_only_where_it_is_possible(self):
        fast = instruction(speed=Speed.SAME_DAY)
        large = instruction(speed=Speed.SAME_DAY, amount=100_000_001)

        assert [row.promised_on for row in take(fast, large)] == [
            date(2026, 11, 24),
            date(2026, 11, 25),
        ]


class TestFollowing:
    def test_a_retry_repeats_its_original(self):
        first = instruction(id="ftx_1")
        (original,) = take(first)
        freezing.freeze_due(RAIL, now=FREEZE)
        AchEntry.objects.update(status="sent")
        AchEntry.objects.update(status="returned", code="R01")
        Originator.objects.update(company_name="ANOTHER NAME")

        (row,) = take(replace(first, id="ftx_2", purpose=Purpose.RETRY, original_id="ftx_1"))

        assert (row.description, row.company_name) == ("RETRY PYMT", "BALLAST")
        assert (row.original_id, row.sec, row.amount) == (original.pk, "CCD", original.amount)

    def test_a_reversal_of_a_web_debit_is_a_web_credit(self):
        first = instruction(id="a", account=PERSON, authorization=Authorization.WEB_SINGLE)
        take(first)
        freezing.freeze_due(RAIL, now=FREEZE)
        AchEntry.objects.update(status="sent")
        AchEntry.objects.update(status="accepted", accepted_at=FREEZE)

        (row,) = take(
            replace(
                first,
                id="b",
                method=Method.ACH_CREDIT,
                purpose=Purpose.REVERSAL,
                original_id="a",
            )
        )

        assert (row.description, row.sec, row.payment_type) == ("REVERSAL", "WEB", "S")
        assert (row.is_debit, row.transaction_code) == (False, 22)

    def test_is_refused_where_it_does_not_fit(self):
        first = instruction(id="ftx_1")
        take(first)
        retry = replace(first, id="r", purpose=Purpose.RETRY, original_id="ftx_1")

        assert answer(retry) == ["retry_on_its_way"]
        assert answer(replace(retry, amount=1)) == ["original_differs"]
        assert answer(replace(retry, method=Method.ACH_CREDIT)) == ["original_differs"]
        assert answer(replace(retry, original_id="ftx_9")) == ["original_unknown"]
        assert answer(replace(retry, purpose=Purpose.REVERSAL)) == ["original_differs"]


class TestAnswer:
    def test_is_the_first_receipt_for_a_repeat(self):
        one = instruction()

        first, again = answer(one), answer(one)

        assert isinstance(first[0], Accepted)
        assert (first, AchEntry.objects.count()) == (again, 1)
        assert BANK.find(one.id) == first[0]
        assert BANK.find("ftx_unknown") is None

    @pytest.mark.parametrize(
        "changes",
        [
            {"amount": 99},
            {"method": Method.ACH_CREDIT},
            {"account": account("55555")},
            {"tenant_id": "ten_other"},
        ],
    )
    def test_is_a_conflict_for_other_terms(self, changes):
        one = instruction()
        take(one)

        answers = BANK.submit_many([replace(one, **changes)], now=NOON)

        assert isinstance(answers[one.id], InstructionConflict)
        assert AchEntry.objects.get().amount == one.amount

    def test_is_given_to_each_alone(self):
        good, bad, known = (instruction(id=each) for each in "abc")
        take(known)
        bad = replace(bad, account=account(holder_name="王小明"))

        assert answer(good, bad, known)[1] == "name_unreadable"
        assert AchEntry.objects.count() == 2

    def test_to_a_repeat_does_not_depend_on_what_was_agreed_since(self):
        one = instruction()
        (receipt,) = answer(one)
        make_rail(active=False)
        Originator.objects.update(ended_at=NOON)

        assert answer(one) == [receipt]


def is_unavailable(one, bank):
    """Whether the network may have it or not, so that it is handed over again."""
    answers = bank.submit_many([one], now=NOON)
    return isinstance(answers[one.id], NetworkUnavailable)


class TestRefusal:
    def test_without_an_originator(self):
        Originator.objects.update(ended_at=NOON)

        assert answer(instruction()) == ["no_originator"]

    def test_of_debits_that_are_stopped(self):
        Originator.objects.update(debits_stopped_at=NOON, debits_stopped_why="Too many returns")
        credit = instruction(method=Method.ACH_CREDIT, purpose=Purpose.PAYMENT)

        debits = answer(instruction(), credit)

        assert (debits[0], type(debits[1])) == ("debits_stopped", Accepted)

    def test_of_stopped_debits_tells_a_tenant_nothing_of_others(self):
        """An originator may be many tenants'."""
        why = "12 of 400 debits came back (unauthorized)"
        Originator.objects.update(debits_stopped_at=NOON, debits_stopped_why=why)

        one = instruction()
        refusal = BANK.submit_many([one], now=NOON)[one.id]

        assert isinstance(refusal, InstructionRefused)
        assert refusal.reason.startswith("too many debits came back")
        assert not any(each.isdigit() for each in refusal.reason)

    def test_of_debits_that_are_stopped_but_those_that_end_a_test_of_an_account(self):
        Originator.objects.update(debits_stopped_at=NOON, debits_stopped_why="Too many returns")

        (entry,) = take(instruction(purpose=Purpose.VERIFICATION, amount=7))

        assert (entry.status, entry.description) == ("waiting", "ACCTVERIFY")

    def test_of_a_class_that_the_bank_does_not_take(self):
        make_rail(secs=("PPD", "WEB"))

        assert answer(instruction()) == ["sec_not_allowed"]

    def test_above_the_ceiling(self):
        make_rail(entry_max=1_000)

        one = instruction(amount=1_001)
        assert answer(one) == ["amount_above_limit"]
        refusal = BANK.submit_many([one], now=NOON)[one.id]
        assert isinstance(refusal, InstructionRefused)
        assert refusal.reason == "more than $10.00 at once"

    def test_of_a_person_who_authorized_nothing(self):
        assert answer(instruction(account=PERSON, authorization=None)) == ["authorization_required"]

    def test_is_not_for_good_where_there_is_no_rail(self):
        assert is_unavailable(instruction(), AchNetwork("nobody"))

    def test_is_not_for_good_while_the_rail_takes_nothing(self):
        make_rail(active=False)
        one = instruction()
        assert is_unavailable(one, BANK)

        make_rail()

        (entry,) = take(one)
        assert entry.status == "waiting"

    def test_is_not_for_good_while_the_terms_cannot_be_read(self):
        """As after a release that knows a term otherwise."""
        tamper('UPDATE ach_railversion SET terms = terms || \'{"lead": "soon"}\'')
        one = instruction()
        assert is_unavailable(one, BANK)

        make_rail()  # the next version

        (entry,) = take(one)
        assert entry.status == "waiting"


class TestWithdrawal:
    def test_of_what_waits_is_told_and_final(self):
        one = instruction()
        (row,) = take(one)

        assert BANK.withdraw(one.id, now=NOON) == Withdrawal.WITHDRAWN
        assert BANK.withdraw(one.id, now=NOON) == Withdrawal.WITHDRAWN

        row.refresh_from_db()
        (event,) = BANK.poll(now=NOON, limit=10)
        assert row.status == "withdrawn"
        assert (event.kind, event.code, event.amount) == (EventKind.REJECTED, "withdrawn", 1_234)

    def test_of_something_unknown_is_none(self):
        assert BANK.withdraw("ftx_unknown", now=NOON) == Withdrawal.TOO_LATE


class TestEvents:
    def test_are_told_until_they_are_acknowledged(self):
        one = instruction(id="ftx_1")
        take(one, instruction(id="pay_1"))
        BANK.withdraw("ftx_1", now=NOON)
        BANK.withdraw("pay_1", now=NOON)

        first = BANK.poll(now=NOON, limit=10, id_prefix="ftx")
        assert [event.instruction_id for event in first] == ["ftx_1"]
        assert BANK.poll(now=NOON, limit=10, id_prefix="ftx") == first
        assert BANK.poll(now=NOON - timedelta(seconds=1), limit=10) == []

        BANK.acknowledge([first[0].id, "ace_x", "sbe_1", "ace_99999"])
        assert [event.instruction_id for event in BANK.poll(now=NOON, limit=10)] == ["pay_1"]

    def test_are_what_the_books_say(self):
        one = instruction()
        (row,) = take(one)

        (record,) = BANK.records([one.id, "ftx_unknown"])

        assert (record.instruction_id, record.amount, record.reference) == (
            one.id,
            1_234,
            row.reference,
        )
        assert not record.is_final
        assert not record.is_returned


class TestCapabilities:
    def test_are_the_rails_terms(self, settings):
        settings.ROUTES_KNOWN_SECONDS = None
        make_rail(entry_max=5_000)
        terms = BANK.capabilities.methods[Method.ACH_DEBIT]

        assert (terms.amount_max, terms.same_day_max) == (5_000, 100_000_000)
        assert [f"{each.at:%H:%M} {each.same_day}" for each in terms.cutoffs] == [
            "09:45 True",
            "13:45 True",
            "19:30 False",
        ]
        assert terms.expected_on(NOON) == date(2026, 11, 30)
        credit = BANK.capabilities.methods[Method.ACH_CREDIT]
        assert credit.expected_on(NOON) == date(2026, 11, 25)
        assert credit.expected_on(NOON, Speed.SAME_DAY) == date(2026, 11, 24)

    def test_are_none_without_terms(self):
        assert AchNetwork("nobody").capabilities.methods == {}

    def test_promise_what_the_entry_promises(self):
        (row,) = take(instruction(method=Method.ACH_CREDIT))

        expected = BANK.capabilities.methods[Method.ACH_CREDIT].expected_on(NOON)
        assert row.promised_on == expected
