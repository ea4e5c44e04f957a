"""Reads about payments and recipients."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import (
    Case,
    CharField,
    Count,
    F,
    FilteredRelation,
    OuterRef,
    Q,
    QuerySet,
    Sum,
    Value,
    When,
)
from django.db.models.functions import Coalesce, JSONObject, Lower, NullIf

from balance import selectors as ledger
from common import crypto
from common.engine import compiled
from common.engine.compiled_rows import Rows
from common.engine.lookups import one_of
from common.errors import NotFound
from common.ids import is_id
from networks.base import BankAccount
from payments.caps import CapScope
from payments.models import (
    SOURCE_TYPE,
    Payment,
    PaymentAttempt,
    PaymentConfirmation,
    PaymentEvent,
    PaymentTotal,
    Recipient,
    RecipientVersion,
)
from payments.states import OPEN, PaymentStatus

# What needs the approval of a second person (`Payment.needs_approval`), and has none yet.
NEEDS_APPROVAL = Q(requires_confirmation=True) | Q(second_look_at__isnull=False)
SEARCHED_MAX = 5_000  # names that one search reads
SEARCHED_WORDS_MAX = 5
_BEFORE_SENDING = (PaymentStatus.WAITING_FOR_FUNDS, PaymentStatus.CREATED)
# The approval that counts, of several: none is older than the second look.
_COUNTS = Q(second_look_at=None) | Q(confirmations__created_at__gte=F("second_look_at"))
_UNAPPROVED = NEEDS_APPROVAL & Q(confirmed_at=None)
# `Payment.awaits_confirmation`.
AWAITS_APPROVAL = _UNAPPROVED & Q(status__in=_BEFORE_SENDING)


def payments(*, tenant_id: str) -> QuerySet[Payment]:
    """The tenant's payments, each with its recipient, the approval that counts (`approval`, may be
    None), its refused tries and the ids of its balance transactions."""
    postings = ledger.postings_of(
        tenant_id=OuterRef("tenant_id"), source_type=SOURCE_TYPE, source_id=OuterRef("pk")
    )
    return (
        Payment.objects.filter(tenant_id=tenant_id)
        .annotate(approval=FilteredRelation("confirmations", condition=_COUNTS))
        .select_related("recipient", "approval")  # type: ignore[misc]  # the name given above
        .annotate(
            known_posting_ids=ArraySubquery(postings.values("pk")),
            known_tries=ArraySubquery(_tries_as_json(OuterRef("pk"))),
        )
    )


def payment(*, tenant_id: str, payment_id: str) -> Payment:
    """One payment of the tenant. Raises NotFound, also for a malformed or a foreign id."""
    rows = payments(tenant_id=tenant_id)
    return _found_payment(is_id(payment_id, "pay") and rows.filter(pk=payment_id).first())


def open_payments(*, tenant_id: str) -> QuerySet[Payment]:
    """The tenant's payments that are on their way or wait for money, newest first, with
    recipients."""
    moving = (*OPEN, PaymentStatus.WAITING_FOR_FUNDS)
    rows = Payment.objects.filter(tenant_id=tenant_id, status__in=moving)
    return rows.select_related("recipient").order_by("-created_at", "-pk")


@dataclass(frozen=True)
class Waiting:
    """How many payments wait for money, and their cents."""

    count: int
    cents: int


def short_of_money(rows: QuerySet[Payment]) -> QuerySet[Payment]:
    """Those of `rows` that are only kept by missing money: they wait for it, or they are held back
    while available is negative."""
    ready = Q(status=PaymentStatus.CREATED, held_at=None) & ~_UNAPPROVED
    is_covered = ledger.covers(tenant_id=OuterRef("tenant_id"), amount=0)
    return rows.filter(Q(status=PaymentStatus.WAITING_FOR_FUNDS) | (ready & ~Q(is_covered)))


def waiting_for_money(*, tenant_id: str) -> Waiting:
    """The tenant's payments that are short of money. One query."""
    found = _WAITING.read(tenant_id=tenant_id)
    return Waiting(*found[0]) if found else Waiting(0, 0)


def _waiting(tenant_id: str) -> QuerySet[Payment, tuple[int, int]]:
    rows = short_of_money(Payment.objects.filter(tenant_id=tenant_id))
    return compiled.sums(rows, count=Count("pk"), cents=Sum("amount"))


_WAITING = Rows(_waiting, tenant_id=CharField())


def unsent(*, tenant_id: str) -> QuerySet[Payment]:
    """The tenant's payments that no network can have seen (`Payment.is_unsent`)."""
    rows = before_sending(tenant_id=tenant_id)
    return rows.filter(Q(status=PaymentStatus.WAITING_FOR_FUNDS) | Q(attempts=0))


def before_sending(*, tenant_id: str) -> QuerySet[Payment]:
    """The tenant's payments that no network has answered about, with those that a worker has taken
    up for sending, which may have left."""
    return Payment.objects.filter(tenant_id=tenant_id, status__in=_BEFORE_SENDING)


def may_be_sent(*, tenant_id: str) -> QuerySet[Payment]:
    """`before_sending`, with the automatic payments that go another way if their network refuses
    them."""
    rows = Payment.objects.filter(tenant_id=tenant_id)
    is_with_the_first = Q(status=PaymentStatus.PROCESSING, is_automatic=True, tries=1)
    return rows.filter(Q(status__in=_BEFORE_SENDING) | is_with_the_first)


def history(payment: Payment) -> QuerySet[PaymentEvent]:
    """The changes of its status, oldest first: who made them, when and why."""
    return PaymentEvent.objects.filter(payment=payment).order_by("sequence")


def approvals(payment: Payment) -> QuerySet[PaymentConfirmation]:
    """The approvals of a payment, the one that counts last; none if it needs none."""
    return PaymentConfirmation.objects.filter(payment=payment).order_by("created_at", "pk")


def awaiting_confirmation(rows: QuerySet[Payment]) -> QuerySet[Payment]:
    """Those of `rows` that wait for approval."""
    return rows.filter(AWAITS_APPROVAL)


def kept_recipients(*, tenant_id: str) -> QuerySet[Recipient]:
    """The saved recipients that can be paid, in the order of the names by which the tenant calls
    them."""
    name = Lower(_display_name())
    return recipients(tenant_id=tenant_id).filter(removed_at=None).order_by(name, "pk")


def recipients_called(text: str, *, tenant_id: str) -> QuerySet[Recipient]:
    """Of the tenant's 5,000 newest recipients those that have `text` in the tenant's name for them
    or in the account holder's, those whose name begins with it first."""
    called = Q(nickname__icontains=text) | Q(account_holder_name__icontains=text)
    rows = _newest_recipients(tenant_id=tenant_id).filter(called)
    rows = rows.annotate(name=Lower(_display_name()))
    rows = rows.annotate(begins=Q(name__startswith=text.lower()))
    return rows.order_by("-begins", "name", "pk")


def recipients_to_pay(text: str, *, tenant_id: str) -> QuerySet[Recipient]:
    """Of the tenant's 5,000 newest recipients those in whose name, bank or last four digits each of
    the first five words of `text` is found; all 5,000 for an empty text. Names that begin with the
    text come first."""
    rows = _newest_recipients(tenant_id=tenant_id)
    words = [word for typed in text.split() if (word := typed.strip("·,"))]
    for word in words[:SEARCHED_WORDS_MAX]:
        names = Q(nickname__icontains=word) | Q(account_holder_name__icontains=word)
        rows = rows.filter(names | Q(bank_name__icontains=word) | Q(last4__startswith=word))
    begins = Q(nickname__istartswith=text) | Q(account_holder_name__istartswith=text)
    rank = Case(When(begins, then=0), default=1) if words else Value(0)
    return rows.order_by(rank, Lower(_display_name()), "pk")


def _newest_recipients(*, tenant_id: str) -> QuerySet[Recipient]:
    """The newest saved recipients that can be paid, as many as one search reads."""
    kept = recipients(tenant_id=tenant_id).filter(removed_at=None)
    newest = kept.order_by("-created_at", "-pk").values("pk")[:SEARCHED_MAX]
    return Recipient.objects.filter(tenant_id=tenant_id, pk__in=newest)


def other_sides(*, tenant_id: str, payment_ids: Collection[str]) -> QuerySet[Any, Any]:
    """Each payment's id, the name by which the tenant calls its recipient, an empty text and its
    description, for lines of the statement."""
    rows = Payment.objects.filter(one_of("pk", payment_ids), tenant_id=tenant_id)
    return rows.values_list("pk", _display_name("recipient__"), Value(""), "description")


def known_by_ids(*, tenant_id: str, payment_ids: Collection[str]) -> QuerySet[Payment]:
    """The tenant's payments of these ids, with their recipients."""
    rows = Payment.objects.filter(one_of("pk", payment_ids), tenant_id=tenant_id)
    return rows.select_related("recipient")


def refused_tries(payment: Payment) -> list[PaymentAttempt]:
    """The tries that networks refused, the first one first. No query where the payment came from
    `payments` and was not tried again since."""
    known = getattr(payment, "known_tries", ())
    if len(known) == payment.tries - 1:
        return [_try_of(payment, told) for told in known]
    return refused_tries_of([payment.pk]).get(payment.pk, [])


def refused_tries_of(payment_ids: Collection[str]) -> dict[str, list[PaymentAttempt]]:
    """The tries that networks refused, the first one first, by the ids of the payments."""
    rows = PaymentAttempt.objects.filter(one_of("payment_id", payment_ids)).order_by("number")
    found: dict[str, list[PaymentAttempt]] = {}
    for row in rows:
        found.setdefault(row.payment_id, []).append(row)
    return found


_OF_A_TRY = ("id", "number", "method", "network", "network_reference", "code", "reason")
_TIMES_OF_A_TRY = ("sent_at", "ended_at")


def _tries_as_json(payment_id: object) -> QuerySet[Any, Any]:
    """The refused tries of a payment as JSON, for a column of another query."""
    told = JSONObject(**{name: name for name in (*_OF_A_TRY, *_TIMES_OF_A_TRY)})
    rows = PaymentAttempt.objects.filter(payment_id=payment_id).order_by("number")
    return rows.values(told=told)


def _try_of(payment: Payment, told: dict[str, Any]) -> PaymentAttempt:
    times = {name: told[name] and datetime.fromisoformat(told[name]) for name in _TIMES_OF_A_TRY}
    return PaymentAttempt(payment=payment, **{**told, **times})


def _display_name(prefix: str = "") -> Coalesce:
    """`Recipient.display_name`, in SQL."""
    return Coalesce(NullIf(f"{prefix}nickname", Value("")), f"{prefix}account_holder_name")


def recipients(*, tenant_id: str) -> QuerySet[Recipient]:
    """The tenant's saved recipients, removed ones included."""
    return Recipient.objects.filter(tenant_id=tenant_id, is_saved=True)


def saved_as(fingerprints: Collection[str], *, tenant_id: str) -> QuerySet[Recipient]:
    """The recipients on the tenant's list that are known by one of these, or were before their
    banks corrected them."""
    earlier = RecipientVersion.objects.filter(fingerprint__in=fingerprints)
    is_now, was = Q(fingerprint__in=fingerprints), Q(pk__in=earlier.values("recipient_id"))
    return recipients(tenant_id=tenant_id).filter(is_now | was, removed_at=None)


def called(fingerprints: Sequence[str], *, tenant_id: str) -> str:
    """What the tenant's recipients and totals know an account as that has these fingerprints.
    Three queries, none where there is one key."""

    def stored(names: Sequence[str]) -> set[str]:
        kept = recipients(tenant_id=tenant_id).filter(fingerprint__in=names, removed_at=None)
        earlier = RecipientVersion.objects.filter(
            recipient__tenant_id=tenant_id, fingerprint__in=names
        )
        scopes = {scope_of_account(name): name for name in names}
        paid = PaymentTotal.objects.filter(tenant_id=tenant_id, scope__in=scopes)
        return {
            *kept.values_list("fingerprint", flat=True),
            *earlier.values_list("fingerprint", flat=True),
            *(scopes[scope] for scope in paid.values_list("scope", flat=True).distinct()),
        }

    return crypto.lasting(fingerprints, stored)


def scope_of_account(fingerprint: str) -> str:
    """The scope of the totals of what is paid to an account."""
    return f"{CapScope.RECIPIENT}:{fingerprint}"


def as_corrected(account: BankAccount, *, tenant_id: str) -> BankAccount:
    """The account as its bank says that it is, if that bank corrected it when the tenant paid the
    same holder there; else the account as it is given. One query.

    Raises common.crypto.Undecryptable.
    """
    given = Recipient().fingerprints_of(account)
    earlier = RecipientVersion.objects.filter(
        fingerprint__in=given,
        account_type=account.account_type,
        recipient__tenant_id=tenant_id,
        account_holder_name__iexact=account.holder_name,
        account_holder_type=account.holder_type,
        number__lt=F("recipient__version"),
    )
    newest = earlier.select_related("recipient").order_by("-recipient__corrected_at", "-pk").first()
    if newest is None:
        return account
    return replace(newest.recipient.in_clear(), holder_name=account.holder_name)


def recipient(*, tenant_id: str, recipient_id: str) -> Recipient:
    """One saved recipient. Raises NotFound, also for a malformed or a foreign id."""
    rows = recipients(tenant_id=tenant_id)
    return _found_recipient(is_id(recipient_id, "rcp") and rows.filter(pk=recipient_id).first())


def any_recipient(recipient_id: str) -> Recipient:
    """Any tenant's recipient, saved or not, for staff. Raises NotFound."""
    known = Recipient.objects.filter(pk=recipient_id)
    return _found_recipient(is_id(recipient_id, "rcp") and known.first())


def any_recipient_version(version_id: str) -> RecipientVersion:
    """A version of any tenant's recipient, for staff. Raises NotFound."""
    rows = RecipientVersion.objects.select_related("recipient")
    row = is_id(version_id, "rcv") and rows.filter(pk=version_id).first()
    if not row:
        raise NotFound("There is no such version of a recipient.")
    return row


def _found_payment(row: Payment | Literal[False] | None) -> Payment:
    if not row:
        raise NotFound("There is no such payment.")
    return row


def _found_recipient(row: Recipient | Literal[False] | None) -> Recipient:
    if not row:
        raise NotFound("There is no such recipient.")
    return row
