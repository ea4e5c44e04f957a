"""Pausing auto-funding for a time, or until a person acts, and telling the tenant so.

The balance row's lock serializes a tenant's auto-funding. Every function here takes it, after the
rows of funding or sources that the caller holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from balance import services as ledger
from common.engine.lookups import one_of
from funding import selectors
from funding.models import (
    AccountBackOff,
    AutoFundingConfig,
    FundingSource,
    FundingTransaction,
    Trigger,
)
from funding.services import notices
from networks import return_codes
from tenants.actors import Actor
from tenants.services import audit

BACK_OFF = (timedelta(hours=1), timedelta(hours=6), timedelta(hours=24))


@transaction.atomic
def pause(*, tenant_id: str, reason: str, now: datetime, until: datetime | None = None) -> bool:
    """Pause automatic funding until `until`, or without it until a person acts, and tell the
    tenant.

    Returns False and changes nothing where it is not enabled or already waits for a person.
    """
    funds = ledger.lock_row(tenant_id=tenant_id)
    config = _running(tenant_id)
    if config is None:
        return False
    config.paused_reason, config.paused_until = reason, until
    config.save(update_fields=("paused_reason", "paused_until"))
    notices.paused(config=config, available=funds.available, now=now)
    return True


@transaction.atomic
def pause_where_used(*, source: FundingSource, reason: str, now: datetime) -> bool:
    """Pause, until a person acts, the auto-funding that draws on `source`, because the settings
    name it or because it is the default. To be called before `source` stops being the default."""
    ledger.lock_row(tenant_id=source.tenant_id)
    config = _running(source.tenant_id)
    if config is None or not draws_on(config, source):
        return False
    return pause(tenant_id=source.tenant_id, reason=reason, now=now)


@transaction.atomic
def pause_by_hand(*, tenant_id: str, actor: Actor, now: datetime) -> bool:
    """Pause automatic funding because a person asks for it. Returns False where nothing runs.

    Funding that is on its way, or waits for approval, goes on.
    """
    if not pause(tenant_id=tenant_id, reason=notices.BY_A_PERSON, now=now):
        return False
    audit.record(
        tenant_id=tenant_id,
        actor=actor,
        action="auto_funding.paused",
        subject_id=AutoFundingConfig.objects.values_list("pk", flat=True).get(tenant_id=tenant_id),
        now=now,
    )
    return True


@transaction.atomic
def resume(*, tenant_id: str, actor: Actor, now: datetime) -> bool:
    """End any pause and forget the failures, because a person has acted. False if there was no
    pause."""
    ledger.lock_row(tenant_id=tenant_id)
    AccountBackOff.objects.filter(tenant_id=tenant_id).delete()
    paused = AutoFundingConfig.objects.filter(tenant_id=tenant_id).exclude(paused_reason="")
    config = paused.first()
    if config is None:
        return False
    audit.record(
        tenant_id=tenant_id,
        actor=actor,
        action="auto_funding.resumed",
        subject_id=config.pk,
        details={"reason": config.paused_reason},
        now=now,
    )
    paused.update(paused_reason="", paused_until=None, failures_in_a_row=0, resumed_at=now)
    ledger.look_at_low_again(tenant_id, now=now)
    return True


@transaction.atomic
def note_failure(*, funding: FundingTransaction, now: datetime) -> None:
    """React to a funding that failed or came back, whatever started it.

    A code that ends the authorization or the account pauses auto-funding from that account until a
    person acts. After any other failure the account is left alone for 1 h, then 6 h, then 24 h. The
    failure of a funding that a person started counts only if the bank itself refused it.
    """
    if (code := _final_answer(funding)) is not None:
        source = selectors.same_account_now(funding.source)
        pause_where_used(source=source, reason=notices.RETURNED + code, now=now)
    if funding.trigger != Trigger.AUTO_FUNDING and funding.pending_at is None:
        return
    ledger.lock_row(tenant_id=funding.tenant_id)
    config = _running(funding.tenant_id)
    uses_it = config is not None and draws_on(config, selectors.same_account_now(funding.source))
    known = config.failures_in_a_row if config is not None and uses_it else 0
    back_off = _count_failure(funding, known=known, now=now)
    if config is None or not uses_it:
        return
    config.failures_in_a_row = back_off.failures_in_a_row
    config.save(update_fields=("failures_in_a_row",))
    pause(tenant_id=funding.tenant_id, reason=notices.AFTER_FAILURE, until=back_off.until, now=now)


def _count_failure(funding: FundingTransaction, *, known: int, now: datetime) -> AccountBackOff:
    """Count one more failure of the funding's account. `known` is how many failures the settings
    had counted before failures were counted per account."""
    rows = AccountBackOff.objects.filter(tenant_id=funding.tenant_id)
    row = rows.filter(fingerprint=funding.source.fingerprint).first() or AccountBackOff(
        tenant_id=funding.tenant_id,
        fingerprint=funding.source.fingerprint,
        failures_in_a_row=known,
    )
    row.failures_in_a_row += 1
    row.until = now + BACK_OFF[min(row.failures_in_a_row, len(BACK_OFF)) - 1]
    row.save()
    return row


def left_alone_until(source: FundingSource, *, now: datetime) -> datetime | None:
    """Until when no automatic debit of this account may start; None if one may start now."""
    rows = AccountBackOff.objects.filter(
        tenant_id=source.tenant_id, fingerprint=source.fingerprint, until__gt=now
    )
    return rows.values_list("until", flat=True).first()


def note_successes(fundings: Sequence[FundingTransaction]) -> None:
    """Fundings have completed, whatever started them: of their accounts the next failure starts
    from 1 h again, and what waited for them goes on. The caller holds the balance rows."""
    tenant_ids = {funding.tenant_id for funding in fundings}
    back_offs = AccountBackOff.objects.filter(one_of("tenant_id", tenant_ids))
    waiting = AutoFundingConfig.objects.filter(one_of("tenant_id", tenant_ids)).exclude(
        paused_reason="", failures_in_a_row=0
    )
    known = back_offs.values_list("tenant_id").union(waiting.values_list("tenant_id"))
    concerned = {tenant_id for (tenant_id,) in known}
    for funding in fundings:
        if funding.tenant_id in concerned:
            note_success(funding=funding)


@transaction.atomic
def note_success(*, funding: FundingTransaction) -> None:
    """React to a funding that completed, whatever started it: the next failure of its account waits
    for 1 h again, and auto-funding that waited because of failures goes on."""
    ledger.lock_row(tenant_id=funding.tenant_id)
    account = {"tenant_id": funding.tenant_id, "fingerprint": funding.source.fingerprint}
    AccountBackOff.objects.filter(**account).delete()
    configs = AutoFundingConfig.objects.filter(tenant_id=funding.tenant_id)
    config = configs.exclude(paused_reason="", failures_in_a_row=0).first()
    if config is None or not draws_on(config, selectors.same_account_now(funding.source)):
        return
    configs.update(failures_in_a_row=0)
    configs.filter(paused_reason=notices.AFTER_FAILURE).update(paused_reason="", paused_until=None)


def is_paused(config: AutoFundingConfig, now: datetime) -> bool:
    """Whether `config` is paused. A pause with an end is over once that time has come."""
    if not config.paused_reason:
        return False
    return config.paused_until is None or now < config.paused_until


def draws_on(config: AutoFundingConfig, source: FundingSource) -> bool:
    """Whether auto-funding would draw on `source`: the account it names, else the default one."""
    if config.source_id is None:
        return source.is_default
    return config.source_id == source.pk


def _running(tenant_id: str) -> AutoFundingConfig | None:
    """The settings, if they are enabled and do not already wait for a person."""
    enabled = AutoFundingConfig.objects.select_related("tenant").filter(
        tenant_id=tenant_id, enabled=True
    )
    return enabled.exclude(~Q(paused_reason=""), paused_until=None).first()


def _final_answer(funding: FundingTransaction) -> str | None:
    """The network's code, if no automatic debit may follow it.

    An unknown code counts only once the network has had the funding; our own reasons never count.
    """
    code = funding.return_code or funding.failure_code
    known = return_codes.lookup(code) if funding.pending_at else return_codes.ALL.get(code)
    ends = known is not None and (known.ends_authorization or known.ends_account)
    return code if ends else None
