"""Whether debits are still authorized, right before they are sent.

The authorization is locked against its end: what is revoked before that moment is not sent.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from common.engine import arrays, sql
from common.engine.lookups import one_of
from funding.agreements import NEW_ACCOUNT
from funding.errors import AuthorizationRequired
from funding.models import (
    AuthorizationKind,
    AuthorizationScope,
    DebitAuthorization,
    FundingMethod,
    FundingSource,
    FundingTransaction,
)
from funding.services.debit_authorizations import is_asked_of
from tenants.models import Mode, Tenant

# The share lock waits for an end that is under way, and reads the row again after it.
_SEE = """
WITH held AS (
    SELECT debit.id, agreed.created_at
    FROM funding_authorizeddebit AS debit
    JOIN funding_debitauthorization AS agreed ON agreed.id = debit.authorization_id
    WHERE debit.funding_id = ANY(%(ids)s::text::text[]) AND agreed.ended_at IS NULL
    ORDER BY agreed.id FOR SHARE OF agreed
)
UPDATE funding_authorizeddebit AS debit SET in_force_at = greatest(%(now)s, held.created_at)
FROM held WHERE debit.id = held.id
RETURNING debit.funding_id, debit.kind
"""


def look_again(fundings: Sequence[FundingTransaction], *, now: datetime) -> None:
    """Note on each funding that was read with its account, right before it is sent, how the holder
    of an individual's account agreed to it (`authorized_as`), or that it `lacks_authorization`.

    No query where all accounts are businesses', otherwise at most two.
    """
    of_individuals = [
        each for each in fundings if is_asked_of(each.source, mode=Mode.LIVE, method=each.method)
    ]
    if not of_individuals:
        return
    found = _see_in_force(of_individuals, now)
    missing = [each for each in of_individuals if each.pk not in found]
    live = _live({each.tenant_id for each in missing})
    for each in of_individuals:
        each.authorized_as = found.get(each.pk, "")
        each.lacks_authorization = each.pk not in found and each.tenant_id in live


def require_in_force(funding: FundingTransaction) -> None:
    """For a funding that was looked at. Raises AuthorizationRequired."""
    if funding.lacks_authorization:
        raise AuthorizationRequired(
            "The account holder's authorization of this debit has ended: it was not sent."
        )


def lacking_for_deposits(sources: Collection[FundingSource]) -> frozenset[str]:
    """Those of these accounts whose micro-deposits may not be fetched back by a debit: of live
    tenants' individuals, none of whom has agreed to that. Two queries where there are any."""
    asked = [
        each
        for each in sources
        if is_asked_of(each, mode=Mode.LIVE, method=FundingMethod.ACH_DEBIT)
    ]
    if not asked:
        return frozenset()
    live = _live({each.tenant_id for each in asked})
    agreed = DebitAuthorization.objects.filter(
        Q(scope=AuthorizationScope.ACCOUNT) | Q(text_version=NEW_ACCOUNT),
        one_of("source_id", {each.pk for each in asked}),
        kind=AuthorizationKind.RECURRING,
        ended_at=None,
    )
    covered = set(agreed.values_list("source_id", flat=True))
    return frozenset(each.pk for each in asked if each.tenant_id in live) - covered


@transaction.atomic
def _see_in_force(fundings: Sequence[FundingTransaction], now: datetime) -> Mapping[str, str]:
    """Of those whose authorization is in force, its kind, by the funding's id; each is noted as
    seen in force."""
    named = arrays.texts(each.pk for each in fundings)
    return dict(sql.rows(_SEE, {"ids": named, "now": now}))


def _live(tenant_ids: set[str]) -> frozenset[str]:
    """The live ones of these tenants."""
    if not tenant_ids:
        return frozenset()
    rows = Tenant.objects.filter(pk__in=tenant_ids, mode=Mode.LIVE)
    return frozenset(rows.values_list("pk", flat=True))
