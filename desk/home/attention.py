"""The list of things that somebody at the desk should act on now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, partial
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse

from balance import proposals
from balance.figures import Totals
from common import days
from common.engine import compiled
from common.engine.compiled import Statement
from common.money import format_cents
from desk.exceptions import lines as exceptions
from desk.items.narrowing import Whose
from desk.ledger.checks import CheckLine
from desk.ledger.seals import SealLine
from desk.queues.lines import QueueLine
from desk.return_rates import Meter, TenantMeters
from funding.models import FundingTransaction
from networks.ach.models import OutFile, RailSwitch
from networks.ach.states import FileStatus
from networks.instant import figures as instant
from networks.instant import position
from networks.instant.models import PositionMove
from networks.instant.states import MoveStatus
from payments.models import Payment
from payments.services import shortage
from reconciliation import due, failing, suspense, unproven
from solvency import coverage
from tenants.services import access
from transfers import holds
from transfers.inbox import reviews, settlements

# What they are, the rows, and the list that shows them: its address and what it filters by.
_DECISIONS: Mapping[str, tuple[Callable[[], QuerySet[Any]], str, str]] = {
    "Messages of networks to settle": (
        reviews.waiting,
        "admin:network_inbox_inboundevent_changelist",
        "attention=review",
    ),
    "Adjustments to approve": (
        proposals.waiting,
        "admin:balance_adjustmentproposal_changelist",
        "decision__exact=open",
    ),
    "Settlements by hand to approve": (
        settlements.waiting,
        "admin:network_inbox_handsettlement_changelist",
        "decision__exact=open",
    ),
    "Proposals of access to decide": (
        access.waiting,
        "admin:tenants_accessproposal_changelist",
        "decision__exact=open",
    ),
    "Funding on hold": (
        partial(holds.held, FundingTransaction),
        "admin:funding_fundingtransaction_changelist",
        "held_at__isempty=0",
    ),
    "Payments on hold": (
        partial(holds.held, Payment),
        "admin:payments_payment_changelist",
        "held_at__isempty=0",
    ),
    "Payments held back, balance below zero": (
        shortage.all_held_back,
        "admin:payments_payment_changelist",
        "held_back_at__isempty=0",
    ),
}

# Fewer debits than this say nothing about a rate: one return among three is chance.
DEBITS_THAT_SAY_SOMETHING = 20
_CUTOFF_IS_NEAR = timedelta(minutes=10)
_FILES_COUNTED = 200
_STOPS = 20


@dataclass(frozen=True)
class Attention:
    """One sentence and where to go."""

    tone: str
    text: str
    action: str
    href: str


def of_reader(user_id: str, *, now: datetime) -> Iterator[Attention]:
    """What the reader has to work on."""
    if count := exceptions.assigned(user_id, now=now):
        href = f"{reverse('desk:exceptions')}?whose={Whose.MINE}"
        yield Attention("info", f"Assigned to you: {count:,}.", "Show", href)


def of_decisions() -> Iterator[Attention]:
    """What waits for somebody at the desk to decide, or for a tenant's money. One query, of small
    indexes."""
    counted = dict(_waiting().rows())
    for what, (_rows, name, query) in _DECISIONS.items():
        if count := counted[what]:
            yield Attention("warn", f"{what}: {count:,}.", "Show", f"{reverse(name)}?{query}")


@cache
def _waiting() -> Statement:
    return compiled.counts({what: rows() for what, (rows, *_list) in _DECISIONS.items()})


def of_ledger(check: CheckLine, totals: Totals | None) -> Iterator[Attention]:
    """A check that is not clean, and balances that were below zero when one began."""
    if check.tone in ("bad", "warn"):
        href = reverse("desk:ledger")
        yield Attention(check.tone, f"Ledger check: {check.words}.", "Look", href)
    if totals and totals.overdrawn:
        href = reverse("admin:balance_balance_changelist")
        text = f"Balances below zero: {totals.overdrawn:,}."
        yield Attention("warn", text, "Show", f"{href}?below_zero=yes")


def of_seals(seals: SealLine) -> Iterator[Attention]:
    """Rounds that are not made, or not published."""
    if seals.tone == "bad":
        yield Attention("bad", f"Seals: {seals.words}.", "Look", reverse("desk:ledger"))


def of_returns(meters: Sequence[Meter], worst: Sequence[TenantMeters]) -> Iterator[Attention]:
    """Rates near or over their level, of all and of tenants with enough debits to judge."""
    for meter in meters:
        if meter.tone != "good":
            text = f"{meter.label} returns of all tenants: {meter.rate:.2f} % of {meter.level:g} %."
            yield Attention(meter.tone, text, "Show", "#returns")
    for tenant in worst:
        meter = tenant.worst
        if meter.tone == "bad" and meter.debits >= DEBITS_THAT_SAY_SOMETHING:
            text = f"{tenant.tenant_name}: {meter.rate:.2f} % {meter.label.lower()} returns."
            yield Attention("warn", text, "Open", reverse("desk:tenant", args=[tenant.tenant_id]))


def of_ach(*, now: datetime) -> Iterator[Attention]:
    """Parts of rails that are stopped, files that wait for people, and what banks said that
    somebody has to decide. Indexes of open rows only."""
    for switch in RailSwitch.objects.filter(released_at=None).order_by("rail_id", "part")[:_STOPS]:
        text = f"Rail {switch.rail_id}: {switch.get_part_display().lower()}."
        yield Attention("bad", text, "Open", reverse("desk:rail", args=[switch.rail_id]))
    cut_off = now + _CUTOFF_IS_NEAR
    files = OutFile.objects.filter(status=FileStatus.BUILT)[:_FILES_COUNTED]
    unreleased = list(files.values_list("cutoff_at", flat=True))
    if unreleased:
        tone = "bad" if min(unreleased) < cut_off else "warn"
        yield Attention(
            tone, f"Files to release: {len(unreleased):,}.", "Show", reverse("desk:files")
        )
    count, overdue = exceptions.counted(now=now)
    if count:
        late = f", {overdue:,} of them overdue" if overdue else ""
        yield Attention(
            "bad" if overdue else "warn",
            f"Exceptions to decide: {count:,}{late}.",
            "Show",
            reverse("desk:exceptions"),
        )


def of_positions() -> Iterator[Attention]:
    """Money at instant networks that runs short, and moves that wait for a second person."""
    for each in position.standings():
        if each.is_low:
            text = f"Rail {each.rail}: {format_cents(each.free)} left at the network"
            if each.waiting:
                text += f", and {format_cents(each.waiting_cents)} waits for more"
            tone = "bad" if each.waiting else "warn"
            yield Attention(tone, f"{text}.", "Look", reverse("desk:positions"))
    for move in PositionMove.objects.filter(status=MoveStatus.PROPOSED).order_by("rail_id"):
        text = f"Rail {move.rail_id}: a move of money waits for a second person."
        yield Attention("warn", text, "Decide", reverse("desk:position_move", args=[move.pk]))


def of_instant() -> Iterator[Attention]:
    """Messages that changed nothing, and networks that are not heard. What a person has to look at
    is among the exceptions."""
    found = instant.waiting()
    if found.faulty:
        text = f"Messages of instant networks with a fault: {found.faulty:,}."
        yield Attention("warn", text, "Show", reverse("desk:instant_messages"))
    if found.lines:
        text = f"Instant networks that are not heard: {found.lines:,}."
        yield Attention("bad", text, "Show", reverse("admin:instant_instantline_changelist"))


def of_days(*, now: datetime) -> Iterator[Attention]:
    """Days of settlement accounts that should be closed by now."""
    for each in due.standings(now=now):
        if each.late_days:
            count = "1 day" if len(each.late_days) == 1 else f"{len(each.late_days):,} days"
            text = f"Rail {each.rail}: {count} not closed, from {each.late_days[0]:%B %-d} on."
            yield Attention("bad", text, "Look", reverse("desk:reconciliation"))


def of_suspense(*, now: datetime) -> Iterator[Attention]:
    """Lines of banks that two people should have explained by now."""
    for each in suspense.standings():
        if each.is_late(now) and each.since:
            text = (
                f"Rail {each.rail}: {format_cents(each.sums.gross)} in suspense, since"
                f" {days.day_of(each.since):%B %-d}."
            )
            yield Attention("warn", text, "Show", reverse("desk:suspense"))


def of_proofs(*, now: datetime) -> Iterator[Attention]:
    """Closed days that should have a proof of funds by now."""
    if late := unproven.late_days(now=now):
        count = "1 closed day" if len(late) == 1 else f"{len(late):,} closed days"
        text = f"Proofs of funds: {count} not proven, from {late[0]:%B %-d} on."
        yield Attention("bad", text, "Look", reverse("desk:proofs"))


def of_coverage() -> Iterator[Attention]:
    """That tenants own more than lies at the banks."""
    report = coverage.newest()
    if report and (missing := coverage.missing(report)):
        text = (
            f"Tenants own {format_cents(missing)} more than lay at the banks on"
            f" {report.day:%B %-d}."
        )
        yield Attention("bad", text, "Look", reverse("desk:proof", args=[report.day]))


def of_failing(*, now: datetime) -> Iterator[Attention]:
    """Sweeps of reconciliation that fail in each run."""
    for each in failing.failures():
        if each.is_late(now):
            where = f"Rail {each.rail}" if each.rail else "Every rail"
            text = f"{where}: {each.sweep} has failed since {days.time_words(each.since)}."
            yield Attention("bad", text, "Look", reverse("desk:reconciliation"))


def of_queues(lines: Sequence[QueueLine]) -> Iterator[Attention]:
    """Due work that nobody does."""
    for line in lines:
        if line.tone == "bad":
            text = f"{line.name}: due work has waited for over 2 minutes."
            yield Attention("bad", text, "Queues", reverse("desk:queues"))
