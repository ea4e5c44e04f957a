"""Compares what clients, staff and approvers were told with what is stored at the end.

A success that was told stays one. A request with a key has one effect, however often it was sent,
and none if it was refused.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from approvals import policies
from approvals.models import ApprovalStatus
from balance.models import Adjustment, BalanceTransaction
from funding.models import FundingTransaction
from networks.return_codes import WITHDRAWN
from payments.models import Payment
from simulation.findings import Finding
from simulation.front import Intent
from simulation.world import Deed, World

Rows = dict[str, list[Any]]

_MADE_BY = {"top_up": FundingTransaction, "pay": Payment, "pay_or_wait": Payment}
_CANCELED = {"cancel_payment": Payment, "cancel_funding": FundingTransaction}
_UNSENT = {"waiting_for_funds", "created", "reserved", "awaiting_confirmation"}
# A tenant may end what staff hold: by canceling it, by other settings, or by an approver's no.
_ENDED_BY_ITS_OWNER = {"canceled", "confirmation_superseded", "confirmation_declined"}


def check(world: World) -> Iterator[Finding]:
    """Find everything that was told and is not so."""
    rows = _rows_by_description()
    for intent in world.intents:
        if intent.kind in _MADE_BY:
            yield from _check_made(intent, rows)
        elif intent.kind in _CANCELED:
            yield from _check_canceled(intent)
        elif intent.kind == "summary":
            yield from _check_summary(intent)
        if intent.key is not None:
            yield from _check_answers(intent)
    yield from _check_deeds(world)
    yield from _check_holds(world)
    yield from _of_nobody(world, rows)


def _rows_by_description() -> Rows:
    rows: Rows = defaultdict(list)
    for model in (FundingTransaction, Payment):
        for row in model._default_manager.all():
            rows[row.description].append(row)
    return rows


def _check_made(intent: Intent, rows: Rows) -> Iterator[Finding]:
    made = rows.get(f"act {intent.number}", [])
    success, body = intent.success, intent.body or {}
    if success is not None:
        if [row.pk for row in made] != [success["id"]]:
            told = f"told {intent.told.status if intent.told else ''} for {success['id']}"
            yield Finding("lie", intent.kind, f"{told}, stored are {[row.pk for row in made]}")
    elif intent.told is not None and len(intent.answers) == 1 and made:
        yield Finding("lie", intent.kind, f"refused with {intent.told.status}, made {made[0].pk}")
    if len(made) > 1:
        yield Finding("twice", intent.kind, f"{[row.pk for row in made]} for one request")
    for row in made:
        if (row.amount, row.tenant_id) != (body["amount"], intent.tenant_id):
            yield Finding("other_terms", row.pk, f"asked for {body['amount']}, made {row.amount}")


def _check_canceled(intent: Intent) -> Iterator[Finding]:
    success = intent.success
    if success is None:
        return
    row: Any = _CANCELED[intent.kind]._default_manager.filter(pk=success["id"]).first()
    if row is None or row.status != success["status"]:
        is_now = row.status if row else "nowhere"
        yield Finding("lie", intent.kind, f"told {success['status']}, {success['id']} is {is_now}")


def _check_summary(intent: Intent) -> Iterator[Finding]:
    """Check that a balance that was shown was there at some moment."""
    if (seen := intent.success) is None:
        return
    pair = {"available_after": seen["availableBalance"], "locked_after": seen["lockedBalance"]}
    lines = BalanceTransaction.objects.filter(tenant_id=intent.tenant_id, **pair)
    if not lines.exists():
        yield Finding("lie", intent.kind, f"{pair} was never so")


def _check_answers(intent: Intent) -> Iterator[Finding]:
    told = [t for t in intent.answers if t is not None and t.is_definite]
    different = {(t.status, str(t.body.get("data"))) for t in told}
    if len(different) > 1:
        yield Finding("two_answers", intent.kind, f"one key, {sorted(different)}")


def _check_deeds(world: World) -> Iterator[Finding]:
    for deed in world.deeds:
        if not deed.was_told:
            continue
        if deed.kind in {"credit", "debit"}:
            yield from _check_adjustment(deed)
        elif deed.kind in {"approve", "decline"}:
            yield from _check_decision(deed)
        elif deed.kind == "withdraw":
            yield from _check_withdrawal(deed, world)


def _check_adjustment(deed: Deed) -> Iterator[Finding]:
    made = Adjustment.objects.filter(tenant_id=deed.tenant_id, reason=deed.subject_id)
    ids = list(made.values_list("pk", flat=True))
    posted = BalanceTransaction.objects.filter(source_id__in=ids).count()
    if (len(ids), posted) != (1, 1):
        yield Finding("lie", deed.kind, f"told done, {len(ids)} made, {posted} posted")


def _check_decision(deed: Deed) -> Iterator[Finding]:
    wanted = ApprovalStatus.APPROVED if deed.kind == "approve" else ApprovalStatus.DECLINED
    for policy in policies.every():
        approval = policy.approvals().filter(pk=deed.subject_id).first()
        if approval is not None and approval.decision != wanted:
            text = f"told {wanted}, {approval.pk} is {approval.decision}"
            yield Finding("lie", deed.kind, text)


def _check_withdrawal(deed: Deed, world: World) -> Iterator[Finding]:
    """Check that what the bank gave back, as staff were told, failed as withdrawn."""
    model: Any = Payment if deed.subject_id.startswith("pay_") else FundingTransaction
    row = model._default_manager.get(pk=deed.subject_id)
    if not world.bank.entries[row.pk].is_withdrawn or row.failure_code != WITHDRAWN:
        text = f"told withdrawn, {row.pk} is {row.status}: {row.failure_code}"
        yield Finding("lie", deed.kind, text)


def _check_holds(world: World) -> Iterator[Finding]:
    """Check that what staff were told is held keeps its place until they or its owner end that."""
    for subject_id in _held_last(world.deeds):
        model: Any = Payment if subject_id.startswith("pay_") else FundingTransaction
        row = model._default_manager.get(pk=subject_id)
        is_ended = bool({row.failure_code, row.status} & _ENDED_BY_ITS_OWNER)
        if row.status not in _UNSENT and not is_ended:
            yield Finding(
                "lie", "hold", f"{subject_id} was held and is {row.status}: {row.failure_code}"
            )
        if subject_id in world.bank.entries:
            yield Finding("lie", "hold", f"{subject_id} was held, and the bank has it")


def _held_last(deeds: Sequence[Deed]) -> Iterator[str]:
    """What is still held after every release of it. Of two acts at the same time, either may be the
    last."""
    holds = {deed.subject_id: deed for deed in deeds if deed.kind == "hold" and deed.was_told}
    for subject_id, hold in holds.items():
        others = [d for d in deeds if d.subject_id == subject_id and d.kind in {"release", "stop"}]
        if all(0 < other.ended < hold.begun for other in others):
            yield subject_id


def _of_nobody(world: World, rows: Rows) -> Iterator[Finding]:
    """Find money that moved although nobody asked for it and auto-funding was not told to."""
    wanted = {f"act {intent.number}" for intent in world.intents} | {"Auto-funding"}
    for description, made in rows.items():
        if description not in wanted:
            yield Finding("of_nobody", made[0].pk, f"nobody asked for {description!r}")
