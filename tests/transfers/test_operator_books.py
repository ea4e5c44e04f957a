"""The operator's books after any history of messages, against a model that is plainly right.

The model looks at what was applied to each transfer, in whatever order it came, and says what is
in each account.
"""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from hypothesis import given, note
from hypothesis import settings as examples
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase as Rollback

from balance import invariants, journal
from balance.models import OperatorLine
from balance.operator.accounts import OperatorAccount as A
from balance.operator.totals import totals
from common import database_clock
from funding.deposit_transfer import DEPOSIT_ENTRIES
from funding.models import DepositEntry
from funding.services import deposits
from networks.base import EventKind, Method
from tenants import actors
from tests.builders import NOW, make_source, make_staff, make_tenant
from tests.database import owner
from tests.networks.scripted import ScriptedNetwork, message
from tests.transfers.directions import DIRECTIONS
from transfers import dishonors, submission
from transfers.inbox import arrivals, messages, settlements
from transfers.inbox.models import BankOutcome, InboundEvent, InboundOutcome
from transfers.inbox.settlements import SettlementRefused

SETTLES, COMES_BACK = date(2026, 3, 3), date(2026, 3, 5)
LATER = NOW + timedelta(days=30)
MONEY_IN, MONEY_OUT = DIRECTIONS["in"], DIRECTIONS["out"]
HANDLERS = (MONEY_IN.transfer, MONEY_OUT.transfer, DEPOSIT_ENTRIES)
# What the bank of these tests does not know, because it was not told, and what waits for people.
UNTOLD = {
    "funding_bank",
    "funding_deposit_bank",
    "funding_message_in_review",
    "payment_bank",
    "payment_message_in_review",
}

SAYS = st.sampled_from(
    [
        EventKind.ACCEPTED,
        EventKind.SETTLED,
        EventKind.SETTLED,
        EventKind.FINAL,
        EventKind.FINAL,
        EventKind.RETURNED,
        EventKind.RETURNED,
        EventKind.REJECTED,
        EventKind.RESCHEDULED,
        EventKind.RETURN_DISHONORED,
        EventKind.RETURN_DISHONORED,
        EventKind.RETURN_CONTESTED,
    ]
)
BY_HAND = st.sampled_from(list(BankOutcome))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.integers(0, 6), SAYS),
        st.tuples(st.just("again"), st.integers(0, 20), st.none()),
        st.tuples(st.just("by_hand"), st.integers(0, 3), BY_HAND),
        st.tuples(st.just("apply"), st.none(), st.none()),
        st.tuples(st.just("let_days_pass"), st.none(), st.none()),
    ),
    min_size=3,
    max_size=30,
)


class World:
    """Two fundings, two payments of two tenants, and the three deposits of a verification, all
    handed over to a bank that says what the test wants."""

    def __init__(self) -> None:
        tenants = [make_tenant(name=name) for name in ("first", "second")]
        self.rows: list[Any] = [
            money.make(tenant, amount=1_000 + 100 * number + place)
            for place, money in enumerate((MONEY_IN, MONEY_OUT))
            for number, tenant in enumerate(tenants)
        ]
        self.funded = sum(row.amount for row in self.rows[2:])
        make_source(tenants[0], account_number="50001")
        deposits.store_due(now=NOW)
        for handler in HANDLERS:
            submission.submit_due(handler, now=NOW)
        self.rows += DepositEntry.objects.order_by("part")
        self.told: list[Any] = []
        self.uncontested: set[tuple[str, int]] = set()
        self.staff = [make_staff(f"{name}@ballast.example") for name in ("ada", "ben")]

    def say(self, number: int, kind: EventKind) -> None:
        days = {
            EventKind.SETTLED: SETTLES,
            EventKind.RESCHEDULED: SETTLES,
            EventKind.RETURNED: COMES_BACK,
            EventKind.RETURN_DISHONORED: COMES_BACK,
        }
        codes = {
            EventKind.RETURNED: "R01",
            EventKind.REJECTED: "AC04",
            EventKind.RETURN_DISHONORED: "R68",
            EventKind.RETURN_CONTESTED: "R73",
        }
        event = message(
            self.rows[number],
            kind,
            id=f"{len(self.told)}-{self.rows[0].pk[-8:]}",
            settlement_date=days.get(kind),
            code=codes.get(kind, ""),
        )
        self.told.append(event)
        self.store(event)

    def again(self, number: int, _kind: None) -> None:
        """The network tells something once more."""
        if self.told:
            self.store(self.told[number % len(self.told)])

    def store(self, event: Any) -> None:
        prefix = event.instruction_id[:4]
        arrivals.collect(network=ScriptedNetwork(event), id_prefix=prefix, now=NOW)

    def by_hand(self, number: int, outcome: BankOutcome) -> None:
        row = self.rows[number]
        proposer, approver = (actors.staff(each.pk) for each in self.staff)
        try:
            proposal = settlements.propose(
                subject_id=row.pk,
                kind=outcome,
                amount=row.amount,
                bank_reference="FED-77",
                code="" if outcome == BankOutcome.SETTLED else "R01",
                reason="On the statement",
                actor=proposer,
                now=NOW,
            )
            settlements.approve(proposal_id=proposal.pk, note="Seen", actor=approver, now=NOW)
        except SettlementRefused as refusal:
            note(f"refused: {refusal.detail}")

    def apply(self, *_: None) -> None:
        for handler in HANDLERS:
            messages.apply_new(handler, now=NOW)

    def let_days_pass(self, *_: None) -> None:
        """Nobody may contest any more what our bank did not accept until now."""
        for row in self.rows:
            self.uncontested |= {open_dishonor(self, row)}
        with database_clock.at(LATER):
            dishonors.count_due(now=LATER)

    def applied(self, row: Any) -> list[str]:
        """What was applied, in the order in which it came."""
        rows = InboundEvent.objects.filter(instruction_id=row.pk, outcome=InboundOutcome.APPLIED)
        return [event.says for event in rows.order_by("pk")]


def open_dishonor(world: World, row: Any) -> tuple[str, int]:
    """Which dishonor of a returned transfer brought its money back that nobody contested, by its
    place; 0 if there is none. One may be contested before it is told, and counts once until then.
    """
    count, dishonored, contested = 0, False, False
    said = world.applied(row)
    for kind in said if EventKind.RETURNED in said else ():
        if dishonored and contested:
            dishonored = contested = False
        if kind == EventKind.RETURN_DISHONORED and not dishonored:
            dishonored, count = True, count + 1
        contested |= kind == EventKind.RETURN_CONTESTED
    return row.pk, count if dishonored and not contested else 0


def model(world: World) -> Counter[tuple[A, str]]:
    """What is in each account, in cents: what it was debited with, less its credits."""
    books: Counter[tuple[A, str]] = Counter()
    books[A.SUSPENSE, ""] += world.funded
    books[A.BANK_CLEARING, ""] -= world.funded
    for row in world.rows:
        said = set(world.applied(row))
        is_final = EventKind.FINAL in said
        is_back = EventKind.RETURNED in said or (EventKind.REJECTED in said and not is_final)
        has_moved = bool(said & {EventKind.SETTLED, EventKind.FINAL, EventKind.RETURNED})
        is_debit = isinstance(row, MONEY_IN.transfer.model) or row.method == Method.ACH_DEBIT
        sign = 1 if is_debit else -1
        dishonor = open_dishonor(world, row)
        if is_back and dishonor[1] and not isinstance(row, DepositEntry):
            is_counted = not is_debit or dishonor in world.uncontested
            other = A.BANK_CLEARING if is_counted else A.RETURNS_RECEIVABLE
            books[A.SETTLEMENT, row.network] += sign * row.amount
            books[other, row.network] -= sign * row.amount
        if not has_moved or is_back:
            continue  # nothing moved, or all of it came back
        books[A.SETTLEMENT, row.network] += sign * row.amount
        if isinstance(row, DepositEntry):
            other = A.VERIFICATION_COST
        elif is_final:
            other = A.BANK_CLEARING
        else:
            other = A.DEBITS_IN_TRANSIT if is_debit else A.CREDITS_IN_TRANSIT
        books[other, row.network] -= sign * row.amount
    return Counter({key: cents for key, cents in books.items() if cents})


def in_the_books() -> Counter[tuple[A, str]]:
    held = {(total.account, total.rail): total.debit - total.credit for total in totals()}
    return Counter({key: cents for key, cents in held.items() if cents})


def require_sound(world: World) -> None:
    """Bank clearing splits without remainder, and each account is what the model says."""
    assert in_the_books() == model(world)
    sheet = {total.account: total.debit - total.credit for total in journal.trial_balance()}
    assert sum(sheet.values()) == 0
    assert sheet.get("bank_clearing", 0) == 0
    found = invariants.check(now=NOW, full=True).findings
    assert {finding.code for finding in found} <= UNTOLD, found


class TestAnyHistory(Rollback):
    @examples(max_examples=25)
    @given(steps=STEPS)
    def test_splits_bank_clearing_without_remainder(self, steps: Any) -> None:
        world = World()
        for name, number, what in steps:
            note(f"{name} {number} {what}")
            getattr(world, name)(number, what)
            assert in_the_books() == model(world)
        world.apply()

        require_sound(world)


# --- Rows of before


@pytest.fixture
def lived(db: None) -> World:
    """A world with a transfer of every end."""
    world = World()
    money_in, late, money_out, back, paid, paid_back, collected = range(7)
    for number, kind in (
        (money_in, EventKind.SETTLED),
        (late, EventKind.FINAL),
        (late, EventKind.RETURNED),
        (money_out, EventKind.SETTLED),
        (money_out, EventKind.FINAL),
        (back, EventKind.RETURNED),
        (paid, EventKind.SETTLED),
        (paid_back, EventKind.RETURNED),
        (collected, EventKind.FINAL),
    ):
        world.say(number, kind)
        world.apply()
    return world


def written() -> set[tuple[Any, ...]]:
    return set(
        OperatorLine.objects.values_list(
            "step", "amount", "rail", "source_type", "source_id", "tenant_id"
        )
    )


def test_the_lines_of_what_was_before_are_written_once(lived: World) -> None:
    before = written()
    with owner.as_superuser(triggers=False), connection.cursor() as cursor:
        cursor.execute("DELETE FROM balance_operator_line WHERE step <> 'in_final'")
    assert written() < before

    loader = MigrationLoader(None)
    for key in (
        ("balance", "0019_operator_lines_of_adjustments"),
        ("funding", "0039_operator_lines"),
        ("payments", "0037_operator_lines"),
    ):
        state = loader.project_state(key, at_end=False)
        with owner.as_owner(), connection.schema_editor(atomic=False) as editor:
            loader.disk_migrations[key].apply(state, editor)

    assert written() == before
    require_sound(lived)
