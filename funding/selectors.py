"""Reads about funding."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import CharField, F, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import TruncDate

from balance import selectors as ledger
from common import crypto
from common.days import EASTERN, start_of_month
from common.engine.compiled_rows import Rows
from common.engine.lookups import one_of
from common.errors import NotFound
from common.ids import is_id
from funding.agreements import NEW_ACCOUNT
from funding.models import (
    SOURCE_TYPE,
    AuthorizationKind,
    AuthorizationScope,
    AuthorizedDebit,
    AutoFundingConfig,
    AutoFundingDecision,
    DebitAuthorization,
    DecisionOutcome,
    DepositEntry,
    FundingEvent,
    FundingMethod,
    FundingSource,
    FundingSourceVersion,
    FundingTransaction,
    LinkConsent,
    SourceVerification,
    Trigger,
)
from funding.states import (
    IN_FLIGHT,
    VERIFICATION_TRIES_MAX,
    DepositStatus,
    FundingStatus,
    SourceStatus,
)

# Ends of micro-deposits that are no answer of a network.
_NO_REFUSALS = ("verification_over", "authorization_required", "withdrawn")


@dataclass(frozen=True, kw_only=True)
class AutoFunding:
    """A tenant's auto-funding: its settings, saved or not, and what they have done. Amounts are
    cents."""

    config: AutoFundingConfig
    in_flight: int
    funded_this_month: int


def transactions(*, tenant_id: str) -> QuerySet[FundingTransaction]:
    """The tenant's funding, each row with its approval and the ids of its balance transactions."""
    postings = ledger.postings_of(
        tenant_id=OuterRef("tenant_id"), source_type=SOURCE_TYPE, source_id=OuterRef("pk")
    )
    rows = FundingTransaction.objects.filter(tenant_id=tenant_id).select_related("confirmation")
    return rows.annotate(balance_transaction_ids=ArraySubquery(postings.values("pk")))


def transaction(*, tenant_id: str, funding_id: str) -> FundingTransaction:
    """One funding of the tenant. Raises NotFound, also for a malformed or a foreign id."""
    row = (
        is_id(funding_id, "ftx") and transactions(tenant_id=tenant_id).filter(pk=funding_id).first()
    )
    if not row:
        raise NotFound("There is no such funding transaction.")
    return row


def sources(*, tenant_id: str) -> QuerySet[FundingSource]:
    """The tenant's bank accounts, removed ones included."""
    return FundingSource.objects.filter(tenant_id=tenant_id)


def deposits_refused(source: FundingSource) -> str:
    """The code of a micro-deposit to this account that was refused; empty where none was."""
    rows = DepositEntry.objects.filter(verification__source=source, status=DepositStatus.FAILED)
    rows = rows.exclude(failure_code__in=_NO_REFUSALS)
    return rows.values_list("failure_code", flat=True).order_by("part").first() or ""


def any_source(source_id: str) -> FundingSource:
    """Any tenant's bank account, for staff. Raises NotFound."""
    row = is_id(source_id, "fs") and FundingSource.objects.filter(pk=source_id).first()
    if not row:
        raise NotFound("There is no such bank account.")
    return row


def authorizations(*, tenant_id: str) -> QuerySet[DebitAuthorization]:
    """What the holders of the tenant's bank accounts agreed to, with those accounts."""
    rows = DebitAuthorization.objects.filter(tenant_id=tenant_id)
    return rows.select_related("source").order_by("-created_at", "-pk")


def debits_of(authorization: DebitAuthorization) -> QuerySet[AuthorizedDebit]:
    """What was drawn by it, newest first, with the fundings."""
    rows = AuthorizedDebit.objects.filter(authorization=authorization).select_related("funding")
    return rows.order_by("-created_at", "-pk")


def test_debits_of(authorization: DebitAuthorization) -> QuerySet[DepositEntry]:
    """The debits that took micro-deposits of its account back while it was in force, newest first.
    `authorization_checks.lacking_for_deposits` says what allows them: no row links the two."""
    rows = DepositEntry.objects.filter(
        ~Q(status=DepositStatus.CREATED),
        ~Q(failure_code__in=_NO_REFUSALS),
        source_id=authorization.source_id,
        method=FundingMethod.ACH_DEBIT,
        created_at__gte=authorization.created_at,
    )
    if authorization.ended_at is not None:
        rows = rows.filter(created_at__lt=authorization.ended_at)
    covers = authorization.scope == AuthorizationScope.ACCOUNT
    covers = covers or authorization.text_version == NEW_ACCOUNT
    is_allowed = covers and authorization.kind == AuthorizationKind.RECURRING
    return rows.order_by("-created_at", "-pk") if is_allowed else rows.none()


def any_source_version(version_id: str) -> FundingSourceVersion:
    """A version of any tenant's bank account, for staff. Raises NotFound."""
    rows = FundingSourceVersion.objects.select_related("source")
    row = is_id(version_id, "fsv") and rows.filter(pk=version_id).first()
    if not row:
        raise NotFound("There is no such version of a bank account.")
    return row


def known_by(fingerprints: Collection[str], *, tenant_id: str) -> QuerySet[FundingSource]:
    """The tenant's bank accounts that are known by one of these, or were before their banks
    corrected them."""
    earlier = FundingSourceVersion.objects.filter(fingerprint__in=fingerprints)
    is_now, was = Q(fingerprint__in=fingerprints), Q(pk__in=earlier.values("source_id"))
    return sources(tenant_id=tenant_id).filter(is_now | was)


def called(fingerprints: Sequence[str], *, tenant_id: str) -> str:
    """What the tenant's bank accounts know an account as that has these fingerprints. Two queries,
    none where there is one key."""

    def stored(names: Sequence[str]) -> set[str]:
        now = FundingSource.objects.filter(tenant_id=tenant_id, fingerprint__in=names)
        earlier = FundingSourceVersion.objects.filter(
            source__tenant_id=tenant_id, fingerprint__in=names
        )
        return {
            name for rows in (now, earlier) for name in rows.values_list("fingerprint", flat=True)
        }

    return crypto.lasting(fingerprints, stored)


def known_as(source: FundingSource) -> set[str]:
    """What an account is known by, and was before its bank corrected it."""
    earlier = FundingSourceVersion.objects.filter(source=source)
    return {source.fingerprint, *earlier.values_list("fingerprint", flat=True)}


def same_account_now(source: FundingSource) -> FundingSource:
    """The row that stands for the bank account of `source` now. It is `source` itself, unless the
    account was removed and added again."""
    if source.status != SourceStatus.REMOVED:
        return source
    rows = known_by(known_as(source), tenant_id=source.tenant_id)
    last_first = (F("removed_at").desc(nulls_first=True), "-created_at", "-pk")
    return rows.order_by(*last_first).first() or source


def verification(source: FundingSource) -> tuple[int, datetime | None]:
    """How often the deposits to this account may still be named wrong, and until when.

    The time runs once the network has taken the deposits; until then there is no end.
    """
    rows = SourceVerification.objects.filter(source=source)
    used, expires_at = rows.values_list("tries_used", "expires_at").first() or (0, None)
    return VERIFICATION_TRIES_MAX - used, expires_at


def has_consent(source: FundingSource) -> bool:
    """Whether a bank-linking provider still lets us see this account."""
    return LinkConsent.objects.filter(source=source, revoked_at=None).exists()


def attempts(*, tenant_id: str) -> QuerySet[FundingTransaction]:
    """The tenant's funding, each row with its bank account and its approval."""
    rows = FundingTransaction.objects.filter(tenant_id=tenant_id)
    return rows.select_related("source", "confirmation")


def attempt(*, tenant_id: str, funding_id: str) -> FundingTransaction:
    """One funding of the tenant, with its bank account and its approval. Raises NotFound, also for
    a malformed or a foreign id."""
    row = is_id(funding_id, "ftx") and attempts(tenant_id=tenant_id).filter(pk=funding_id).first()
    if not row:
        raise NotFound("There is no such funding transaction.")
    return row


def history(funding: FundingTransaction) -> QuerySet[FundingEvent]:
    """The changes of its status, oldest first: who made them, when and why."""
    return FundingEvent.objects.filter(funding=funding).order_by("sequence")


def troubled_sources(*, tenant_id: str) -> QuerySet[FundingSource]:
    """The bank accounts that somebody has to look at: those that wait for verification, were
    refused by the bank, or may not be debited any more."""
    waits = Q(status__in=(SourceStatus.PENDING_VERIFICATION, SourceStatus.ERRORED))
    unauthorized = Q(status=SourceStatus.ACTIVE, authorization_ended_at__isnull=False)
    rows = sources(tenant_id=tenant_id).filter(waits | unauthorized)
    return rows.order_by("created_at", "pk")


def usable_sources(*, tenant_id: str) -> QuerySet[FundingSource]:
    """The bank accounts that can be debited now, the default first."""
    active = sources(tenant_id=tenant_id).filter(status=SourceStatus.ACTIVE)
    return active.order_by("-is_default", "-created_at", "-pk")


def other_sides(*, tenant_id: str, funding_ids: Collection[str]) -> QuerySet[Any, Any]:
    """Each funding's id, the name and last four digits of its bank account, and its description,
    for lines of the statement."""
    rows = FundingTransaction.objects.filter(one_of("pk", funding_ids), tenant_id=tenant_id)
    return rows.values_list("pk", "source__bank_name", "source__last4", "description")


def known_by_ids(*, tenant_id: str, funding_ids: Collection[str]) -> QuerySet[FundingTransaction]:
    """The tenant's fundings of these ids, with their bank accounts."""
    rows = FundingTransaction.objects.filter(one_of("pk", funding_ids), tenant_id=tenant_id)
    return rows.select_related("source")


def in_flight(*, tenant_id: str) -> QuerySet[FundingTransaction]:
    """The funding that makes up the pending balance, newest first, with its bank accounts."""
    moving = attempts(tenant_id=tenant_id).filter(status__in=IN_FLIGHT)
    return moving.order_by("-created_at", "-pk")


def auto_funding_config(*, tenant_id: str) -> AutoFundingConfig:
    """The settings; disabled, empty and unsaved where none were ever saved."""
    found = _AUTO_FUNDING.read(tenant_id=tenant_id)
    return found[0] if found else AutoFundingConfig(tenant_id=tenant_id)


def _auto_funding(tenant_id: str) -> QuerySet[AutoFundingConfig]:
    return AutoFundingConfig.objects.select_related("tenant").filter(tenant_id=tenant_id)


_AUTO_FUNDING = Rows(_auto_funding, tenant_id=CharField())


def auto_funding(*, tenant_id: str, now: datetime) -> AutoFunding:
    """What a tenant may see of its auto-funding. Three queries."""
    return AutoFunding(
        config=auto_funding_config(tenant_id=tenant_id),
        in_flight=ledger.summary(tenant_id).pending,
        funded_this_month=funded_automatically(tenant_id=tenant_id, now=now),
    )


def decisions(*, tenant_id: str) -> QuerySet[AutoFundingDecision]:
    """The decision log of the tenant's auto-funding."""
    return AutoFundingDecision.objects.filter(tenant_id=tenant_id)


def fired_by_day(*, tenant_id: str, since: datetime) -> dict[date, int]:
    """The cents that auto-funding began to add since then, by the Eastern day on which it fired.
    One query."""
    fired = decisions(tenant_id=tenant_id).filter(
        outcome=DecisionOutcome.FIRED, created_at__gte=since
    )
    by_day = fired.annotate(day=TruncDate("created_at", tzinfo=EASTERN)).values("day")
    return dict(by_day.annotate(cents=Sum("amount")).values_list("day", "cents"))


def funded_automatically(*, tenant_id: str, now: datetime, apart_from: str = "") -> int:
    """How many cents automatic funding added, or is adding, since the first of the Eastern month.

    The funding whose id is `apart_from` is not counted.
    """
    this_month = counted(tenant_id=tenant_id, since=start_of_month(now))
    automatic = this_month.filter(trigger=Trigger.AUTO_FUNDING).exclude(pk=apart_from)
    return int(automatic.aggregate(total=Sum("amount", default=0))["total"])


def counted(*, tenant_id: str, since: datetime) -> QuerySet[FundingTransaction]:
    """The fundings that count against the limit of a day or month that began at `since`."""
    rows = FundingTransaction.objects.filter(counts_since(since), tenant_id=tenant_id)
    return rows.exclude(status=FundingStatus.FAILED)


def counts_since(since: datetime) -> Q:
    """A filter for what was asked for since `since`, or was approved since then, where it needed
    that."""
    return Q(created_at__gte=since) | Q(requires_confirmation=True, reserved_at__gte=since)


def drawn_from(*, tenant_id: str, source_id: str | None) -> FundingSource | None:
    """The tenant's bank account with this id, or the default one without an id. None where there is
    none."""
    rows = sources(tenant_id=tenant_id)
    chosen = rows.filter(pk=source_id) if source_id else rows.filter(is_default=True)
    return chosen.first()


def auto_funding_source_id(config: AutoFundingConfig) -> str | None:
    """The bank account auto-funding draws from: the one it names, else the tenant's default."""
    if config.source_id is not None:
        return config.source_id
    defaults = FundingSource.objects.filter(tenant_id=config.tenant_id, is_default=True)
    return defaults.values_list("pk", flat=True).first()


def settled_by_tenant() -> dict[str, int]:
    """What settled at the bank and is not final yet, in cents by tenant; none where it is nothing.
    Reads what is in flight."""
    rows = FundingTransaction.objects.filter(status__in=IN_FLIGHT, settlement_date__isnull=False)
    return dict(rows.order_by().values_list("tenant_id").annotate(cents=Sum("amount")))
