"""Payments that are not sent yet, and whose payer is removed, gets another role or has the account
closed, or whose API key is revoked, wait for a second person (decision 0192).

An owner with nobody beside them is asked about nothing, and nobody is asked about a small amount.
Such a payment may wait for money for weeks. Once the others have removed whoever ordered it, it is
that person's word that goes on working without them, as a key would be.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db.models import Exists, Max, OuterRef, Q, QuerySet

from approvals import outcomes, requests
from common.engine.wakeups import enqueue_on_commit
from payments import selectors
from payments.models import Payment, PaymentConfirmation
from payments.services import approval_policy, approvals, orders
from tenants import actors, persons
from tenants.actors import Actor
from tenants.models import ActorType, AuditEvent
from tenants.services import audit
from tenants.signals import Leaving

_RULE = "{who} {how} afterwards, so somebody else approves it."
# Says why, of a payment that a worker had taken up when whoever ordered it left.
_REQUIRED_IF_KEPT_BACK = "confirmation.required_if_kept_back"
RULE_OF_KEYS = "The API key that ordered this was revoked afterwards, so somebody else approves it."


def settle(
    *,
    tenant_id: str,
    user_id: str,
    how: Leaving,
    actor: Actor,
    now: datetime,
    canceled: Collection[str] = (),
    **_rest: Any,
) -> dict[str, str]:
    """Let what this person, or a key that they are or were behind, ordered and nobody else has
    approved wait for an approval; cancel those of the ids in `canceled`. Returns how many, in
    words.

    Receives `tenants.signals.member_left`, in its transaction, which has locked the tenant and the
    person's keys. What a worker has taken up for sending may have left, and goes on unless the
    worker keeps it back, or its network refuses it and it could go another way
    (`settle_kept_back`).
    """
    rows = _ordered_by(selectors.may_be_sent(tenant_id=tenant_id), tenant_id, user_id)
    found, taken_up = _locked(rows, _is_unapproved([user_id]))
    _write_down(taken_up, partial(_rule, how), actor, now)
    stay = [payment for payment in found if payment.pk not in canceled]
    _ask_again(
        [each for each in stay if not each.awaits_confirmation], partial(_rule, how), actor, now
    )
    gone = [payment for payment in found if payment.pk in canceled]
    for payment in gone:
        orders.cancel(tenant_id=tenant_id, payment_id=payment.pk, actor=actor, now=now)
    counts = {"Payments that wait for approval": len(stay), "Payments canceled": len(gone)}
    return {label: str(count) for label, count in counts.items() if count}


def settle_key(*, tenant_id: str, key_id: str, actor: Actor, now: datetime, **_rest: Any) -> None:
    """Let what this key ordered, and nobody has approved who did not have it, wait for an approval,
    if there is somebody who may give it.

    Receives `tenants.signals.key_revoked`, in its transaction, which has locked the key: an order
    by it is stored already, or refused.
    """
    rows = _ordered_by_key(selectors.may_be_sent(tenant_id=tenant_id), key_id)
    found, taken_up = _locked(rows, _is_unapproved_of_key(tenant_id, key_id))
    unasked = [each for each in found if not each.awaits_confirmation]
    if has_approvers(unasked + taken_up):
        _write_down(taken_up, _rule_of_keys, actor, now)
        _ask_again(unasked, _rule_of_keys, actor, now)


def settle_kept_back(payment: Payment, now: datetime) -> None:
    """Let a payment that a worker has just kept back, or that goes another way because its network
    refused it, wait for an approval, if whoever ordered it left meanwhile. In the caller's
    transaction, which has locked the payment."""
    lines = AuditEvent.objects.filter(subject_id=payment.pk, action=_REQUIRED_IF_KEPT_BACK)
    line = lines.order_by("created_at", "pk").last()
    if line is None:
        return
    current = Payment.objects.select_related("recipient").get(pk=payment.pk)
    if current.second_look_at is None or current.second_look_at < line.created_at:
        _ask_again([current], lambda _payment: line.details["why"], actors.SYSTEM, now)


def has_approvers(payments: Sequence[Payment]) -> bool:
    """Whether somebody may approve these payments, all ordered by one key. Two queries, or four
    where the only one who approves is behind the key; none without payments."""
    return bool(payments) and bool(approval_policy.approvers(payments[0]))


def unapproved_of_key(*, tenant_id: str, key_id: str) -> QuerySet[Payment]:
    """The payments that this key ordered, that no network has seen and nobody has approved who did
    not have the key, with their recipients. Two queries, and one for the rows."""
    rows = _ordered_by_key(selectors.unsent(tenant_id=tenant_id), key_id)
    rows = rows.filter(_is_unapproved_of_key(tenant_id, key_id))
    return rows.select_related("recipient")


def unapproved(*, tenant_id: str, user_id: str) -> QuerySet[Payment]:
    """The payments that this person ordered, themselves or by a key that they are or were behind,
    that no network has seen and nobody else has approved, with their recipients. Two queries, and
    one for the rows."""
    rows = _ordered_by(selectors.unsent(tenant_id=tenant_id), tenant_id, user_id)
    return rows.filter(_is_unapproved([user_id])).select_related("recipient")


def _ordered_by(rows: QuerySet[Payment], tenant_id: str, user_id: str) -> QuerySet[Payment]:
    ids = persons.ids_ever_of(tenant_id=tenant_id, person_id=user_id)
    return rows.filter(created_by_id__in=ids)


def _ordered_by_key(rows: QuerySet[Payment], key_id: str) -> QuerySet[Payment]:
    return rows.filter(created_by_type=ActorType.API_KEY, created_by_id=key_id)


def _locked(ordered: QuerySet[Payment], unapproved: Q) -> tuple[list[Payment], list[Payment]]:
    """Lock what was ordered, and return what of it is unapproved, with the recipients: what waits
    with us, and what a worker has taken up, which may have left.

    An approval holds its payment until it is stored. A statement that waits for it sees the
    payment as it is then, but not the line of the audit log that was stored with it, so the one
    that looks for that line comes after the one that waits.
    """
    rows = ordered.select_for_update(no_key=True, of=("self",)).order_by("pk")
    list(rows.values_list("pk"))
    found = list(rows.filter(unapproved).select_related("recipient"))
    waiting = [each for each in found if each.is_unsent or each.held_back_at is not None]
    return waiting, [each for each in found if each not in waiting]


def _write_down(
    payments: Sequence[Payment], rule: Callable[[Payment], str], actor: Actor, now: datetime
) -> None:
    """Leave a line in the audit log that `settle_kept_back` finds."""
    for payment in payments:
        audit.record(
            tenant_id=payment.tenant_id,
            actor=actor,
            action=_REQUIRED_IF_KEPT_BACK,
            subject_id=payment.pk,
            details={"why": rule(payment)},
            now=now,
        )


def _is_unapproved(makers: Collection[str]) -> Q:
    """What nobody has approved but these people, who are behind it."""
    return Q(confirmed_at=None) | Q(Exists(_approvals_by(makers)))


def _is_unapproved_of_key(tenant_id: str, key_id: str) -> Q:
    """What nobody has approved but who had this key. While nobody else approves, their own approval
    holds: they would be asked what they have answered."""
    makers = persons.ever_behind(Actor(ActorType.API_KEY, key_id))
    if approval_policy.others_approve(tenant_id=tenant_id, makers=makers):
        return _is_unapproved(makers)
    return Q(confirmed_at=None)


def _approvals_by(people: Collection[str]) -> QuerySet[AuditEvent]:
    """The line of the audit log that says that one of these people approved the payment of a
    row."""
    return AuditEvent.objects.filter(
        subject_id=OuterRef("pk"),
        created_at=OuterRef("confirmed_at"),
        action="confirmation.approved",
        actor_type=ActorType.USER,
        actor_id__in=people,
    )


def _rule(how: Leaving, payment: Payment) -> str:
    """Why a payment of somebody who left is asked about, a sentence."""
    if payment.created_by_type == ActorType.API_KEY:
        return _RULE.format(who="Somebody who had the API key that ordered this", how=how)
    return _RULE.format(who="Whoever ordered this", how=how)


def _rule_of_keys(_payment: Payment) -> str:
    return RULE_OF_KEYS


def _ask_again(
    payments: Sequence[Payment], rule: Callable[[Payment], str], actor: Actor, now: datetime
) -> None:
    """The sweep asks those who approve, as it asks everybody who comes later: so a person who left
    thousands of payments fills no mailbox."""
    at = _later_than_all_approvals(payments, now)
    until = now + requests.VALID_FOR
    columns = {
        "second_look_at": at,
        "confirmed_at": None,
        "confirmation_expires_at": until,
        "next_attempt_at": None,
        "held_back_at": None,
        "updated_at": now,
    }
    Payment.objects.filter(pk__in=[payment.pk for payment in payments]).update(**columns)
    for payment in payments:
        for name, value in columns.items():
            setattr(payment, name, value)
        why = rule(payment)
        approval = approvals.request(payment=payment, rule=why, now=at, is_asked_later=True)
        outcomes.record_audit(approval, "required", by=actor, now=now, why=why)
    if payments:
        enqueue_on_commit("payments.sweep_confirmations")


def _later_than_all_approvals(payments: Sequence[Payment], now: datetime) -> datetime:
    """`now`, or just after the newest approval of these payments, where a clock is behind: no
    approval from before a second look counts."""
    rows = PaymentConfirmation.objects.filter(payment__in=payments)
    newest = rows.aggregate(newest=Max("created_at"))["newest"]
    return now if newest is None else max(now, newest + timedelta(microseconds=1))
