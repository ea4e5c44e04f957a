"""Judges a history by what is certain: what was told, the bank's record, and the sums.

Nothing here trusts what the product says about itself if somebody outside knows better.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.db.models import Model

from balance import invariants
from balance.models import Adjustment, Balance, BalanceTransaction
from common.clock import utc_now
from common.days import day_of
from funding.models import DepositEntry, FundingTransaction
from networks import calendar
from networks.base import EventKind, NetworkEvent
from payments.models import Payment
from simulation import besides, promises
from simulation.bank import CORRECTION, MOVES, WRONG, Entry, Message
from simulation.findings import Finding
from simulation.front import Told
from simulation.processes import Job, ProcessDied
from simulation.world import FIRST_MONEY, World
from transfers.inbox.models import InboundEvent, InboundOutcome
from webhooks.models import WebhookDelivery, WebhookEvent
from webhooks.states import DeliveryStatus, EndpointStatus

K = EventKind
# The statuses that a row may have once the bank has said this.
_FUNDING_AFTER: dict[tuple[EventKind, ...], str] = {
    (): "pending",
    (K.ACCEPTED,): "in_transit",
    (K.ACCEPTED, K.FINAL): "completed",
    (K.ACCEPTED, K.FINAL, K.RETURNED): "failed",
    (K.ACCEPTED, K.RETURNED): "failed",
    (K.REJECTED,): "failed",
}
_PAYMENT_AFTER: dict[tuple[EventKind, ...], str] = {
    (): "processing",
    (K.ACCEPTED,): "processing",
    (K.ACCEPTED, K.FINAL): "completed",
    (K.ACCEPTED, K.FINAL, K.RETURNED): "returned",
    (K.ACCEPTED, K.RETURNED): "failed",
    (K.REJECTED,): "failed",
}
_DEPOSIT_AFTER: dict[tuple[EventKind, ...], str] = {
    (): "sent",
    (K.ACCEPTED,): "sent",
    (K.ACCEPTED, K.FINAL): "completed",
    (K.ACCEPTED, K.FINAL, K.RETURNED): "failed",
    (K.ACCEPTED, K.RETURNED): "failed",
    (K.REJECTED,): "failed",
}
_AFTER: tuple[tuple[type[Model], dict[tuple[EventKind, ...], str]], ...] = (
    (FundingTransaction, _FUNDING_AFTER),
    (Payment, _PAYMENT_AFTER),
    (DepositEntry, _DEPOSIT_AFTER),
)


def judge_job(world: World, job: Job, outcome: Any) -> None:
    """Check that a job for which nothing was broken neither failed nor logged an error."""
    if isinstance(outcome, ProcessDied):
        return
    if isinstance(outcome, Told) and outcome.status == 500:
        code = "error_500_for_an_outage" if job.is_faulted else "error_500"
        world.suspicions.append((code, f"{job.name}: {job.errors[:2]}"))
    elif not job.is_faulted and isinstance(outcome, Exception):
        message = f"{job.name}: {type(outcome).__name__}: {outcome}"
        world.suspicions.append(("job_failed", message))
    errors = [error for error in job.errors if not _is_rightly_in_review(error)]
    if errors and not job.is_faulted:
        world.suspicions.append(("logged_error", f"{job.name}: {errors[0]}"))


def _is_rightly_in_review(text: str) -> bool:
    """Whether a message waits for a person for a good reason: it has another amount. Corrections
    are judged one by one (`besides`)."""
    return any(f"{ending} waits for a person" in text for ending in (WRONG, CORRECTION))


def judge(world: World) -> list[Finding]:
    """Everything that is wrong at the end of a history, when nothing is under way."""
    now = utc_now()
    checked = invariants.check(now=now, full=True).findings
    found = [Finding(code, "", message) for code, message in world.suspicions]
    found += [
        Finding(f"check: {f.code}", f.subject, f.message)
        for f in checked
        if not _is_rightly_in_review(f.message)
    ]
    found += promises.check(world)
    found += _bank_and_rows(world)
    found += _money(world)
    found += _messages(world)
    found += besides.check(world)
    found += _webhooks(world)
    return found


def _bank_and_rows(world: World) -> Iterator[Finding]:
    """Find rows that do not say what the bank says, and instructions that the bank has although we
    gave up."""
    now = world.time.now
    for subject in world.bank.conflicts:
        yield Finding("sent_with_other_terms", subject, "one id, two instructions")
    for model, after in _AFTER:
        rows: Iterable[Any] = model._default_manager.all()
        for row in rows:
            entry = world.bank.entries.get(row.pk)
            if entry is None:
                yield from _never_sent(row)
                continue
            said = tuple(entry.kinds(by=now))
            if row.status != after[said]:
                words = ", ".join(said) or "nothing yet"
                yield Finding("bank_disagrees", row.pk, f"is {row.status}, the bank says {words}")
            if row.amount != entry.instruction.amount:
                yield Finding("bank_amount", row.pk, f"{row.amount}, {entry.instruction.amount}")
    known = {row.pk for model, _ in _AFTER for row in model._default_manager.only("pk")}
    for subject in world.bank.entries.keys() - known:
        yield Finding("bank_has_more", subject, "the bank moves money for no row of ours")


def _never_sent(row: Any) -> Iterator[Finding]:
    if row.status in {"pending", "sent", "in_transit", "processing", "completed", "returned"}:
        yield Finding("bank_knows_nothing", row.pk, f"is {row.status}, the bank never had it")
    is_ready = row.status in {"reserved", "created"} and row.held_at is None
    if is_ready and row.next_attempt_at is not None and row.next_attempt_at <= utc_now():
        yield Finding("never_sent", row.pk, f"is {row.status} and due, and nobody sends it")


def _money(world: World) -> Iterator[Finding]:
    """Compare available and locked with what staff gave and what the bank moved, to the cent."""
    for customer in world.customers:
        tenant_id = customer.tenant.pk
        balance = Balance.objects.get(tenant_id=tenant_id)
        adjusted = sum(
            row.amount if row.type == "credit" else -row.amount
            for row in Adjustment.objects.filter(tenant_id=tenant_id)
        )
        moved = sum(_net(world, entry) for entry in _entries_of(world, tenant_id))
        has, should = balance.available + balance.locked, adjusted + moved
        if has != should:
            yield Finding("money", tenant_id, f"holds {has} cents, should hold {should}")
        yield from _unknown_adjustments(tenant_id, world)


def _entries_of(world: World, tenant_id: str) -> Iterator[Entry]:
    for model in (FundingTransaction, Payment):
        for pk in model._default_manager.filter(tenant_id=tenant_id).values_list("pk", flat=True):
            if pk in world.bank.entries:
                yield world.bank.entries[pk]


def _net(world: World, entry: Entry) -> int:
    """How many cents the bank moved into (or out of) the balance, by its own record."""
    kinds = entry.kinds(by=world.time.now)
    is_there = K.FINAL in kinds and K.RETURNED not in kinds
    is_in = entry.instruction.id.startswith("ftx_")
    is_there = is_there or _is_there_again(entry, by=world.time.now, is_in=is_in)
    sign = 1 if is_in else -1
    return sign * entry.instruction.amount if is_there else 0


def _is_there_again(entry: Entry, *, by: datetime, is_in: bool) -> bool:
    """Whether our bank did not accept its return, and the balance has that: of money in, once the
    other bank may not contest it any more."""
    said = {event.kind: event for event in entry.told(by=by)}
    if not {K.RETURNED, K.RETURN_DISHONORED} <= said.keys() or K.RETURN_CONTESTED in said:
        return False
    last_day = calendar.contest_due_date(day_of(said[K.RETURN_DISHONORED].occurred_at))
    over = calendar.opening_of_business(calendar.next_banking_day(last_day))
    return not is_in or over <= by


def _unknown_adjustments(tenant_id: str, world: World) -> Iterator[Finding]:
    """Find corrections that nobody made, or that were made twice."""
    wanted = Counter(
        (deed.subject_id, deed.kind, deed.amount)
        for deed in world.deeds
        if deed.tenant_id == tenant_id and deed.kind in {"credit", "debit"}
    )
    wanted[("first", "credit", FIRST_MONEY)] += 1
    rows = Adjustment.objects.filter(tenant_id=tenant_id)
    made = Counter((row.reason, str(row.type), row.amount) for row in rows)
    for extra in made - wanted:
        yield Finding("adjustment_of_nobody", tenant_id, str(extra))


def _messages(world: World) -> Iterator[Finding]:
    """Find messages of the bank that are not applied, unless they cannot be right."""
    outcomes = dict(InboundEvent.objects.values_list("event_id", "outcome"))
    notes = dict(InboundEvent.objects.values_list("event_id", "note"))
    for entry in world.bank.entries.values():
        for message in entry.messages:
            event = message.event
            if message.told_at > world.time.now:
                continue
            wanted = InboundOutcome.APPLIED if message.is_genuine else InboundOutcome.REVIEW
            is_now = outcomes.get(event.id, "never stored")
            is_for_a_person = _is_late(entry, event) or event.id.endswith(CORRECTION)
            if is_now != wanted and not (is_now == InboundOutcome.REVIEW and is_for_a_person):
                text = f"{event.kind} is {is_now} ({notes.get(event.id, '')}), should be {wanted}"
                yield Finding("message", event.id, text)


def _is_late(entry: Entry, event: NetworkEvent) -> bool:
    """Whether it is an acceptance that came after what follows it, so that it says nothing new."""
    told = {m.event.kind: m.told_at for m in entry.messages if m.is_genuine and _says_it_is_on(m)}
    return event.kind == K.ACCEPTED and told[K.ACCEPTED] > min(told.values())


def _says_it_is_on(message: Message) -> bool:
    return message.event.kind in MOVES or message.event.kind is K.SETTLED


def _webhooks(world: World) -> Iterator[Finding]:
    """Find events that no receiver accepted, that have other bytes than ours, or that were never
    made."""
    bodies = {row.pk: bytes(row.body) for row in WebhookEvent.objects.all()}
    arrivals = world.receivers.arrivals
    for arrival in arrivals:
        if arrival.event_id not in bodies:
            yield Finding("event_of_nothing", arrival.event_id, arrival.body[:200].decode())
        elif arrival.body != bodies[arrival.event_id]:
            yield Finding("event_changed", arrival.event_id, "other bytes than we keep")
    yield from _deliveries({a.event_id for a in arrivals if a.was_told})
    if not BalanceTransaction.objects.exists():
        yield Finding("nothing_happened", "", "no money moved at all")


def _deliveries(acknowledged: set[str]) -> Iterator[Finding]:
    for delivery in WebhookDelivery.objects.select_related("endpoint"):
        is_off = delivery.endpoint.status != EndpointStatus.ENABLED
        if delivery.status == DeliveryStatus.SKIPPED and is_off:
            continue  # accounted for: the tenant was told that its receiver is switched off
        if delivery.status != DeliveryStatus.DELIVERED:
            yield Finding("event_not_delivered", delivery.event_id, f"is {delivery.status}")
        elif delivery.event_id not in acknowledged:
            yield Finding("event_not_taken", delivery.event_id, "nobody told us that it was taken")
