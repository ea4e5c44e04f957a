"""What a bank says about an account that we draw from, and where that lands."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from funding import selectors
from funding.models import AccountBackOff, FundingSource, FundingSourceVersion
from funding.services import notices, sources
from funding.states import SourceStatus
from tenants.actors import Actor
from tenants.services import audit
from transfers.corrections import AccountBook, Corrected
from transfers.inbox.models import InboundEvent


class Sources(AccountBook[FundingSource]):
    """The bank accounts of tenants."""

    def lock(self, account_id: str) -> FundingSource:
        return FundingSource.objects.select_for_update(no_key=True).get(pk=account_id)

    def is_removed(self, account: FundingSource) -> bool:
        return account.status == SourceStatus.REMOVED

    def other_of(
        self, account: FundingSource, fingerprints: Collection[str]
    ) -> FundingSource | None:
        kept = selectors.known_by(fingerprints, tenant_id=account.tenant_id)
        return kept.exclude(status=SourceStatus.REMOVED).exclude(pk=account.pk).first()

    def called(self, fingerprints: Sequence[str], account: FundingSource) -> str:
        return selectors.called(fingerprints, tenant_id=account.tenant_id)

    def tell(self, corrected: Corrected, actor: Actor, now: datetime) -> None:
        source, were = corrected.account, corrected.before
        _keep_back_off(source, were["fingerprint"])
        self._audit("funding_source.corrected", source, corrected.event, actor, now, were=were)
        sources.tell_programs(source=source, now=now)
        notices.corrected(source=source, was=were["last4"], what=corrected.words, now=now)

    def note(
        self, account: FundingSource, event: InboundEvent, actor: Actor, now: datetime
    ) -> None:
        self._audit("funding_source.correction_noted", account, event, actor, now)

    def _audit(
        self,
        action: str,
        source: FundingSource,
        event: InboundEvent,
        actor: Actor,
        now: datetime,
        were: Mapping[str, str] | None = None,
    ) -> None:
        before = {"lastFourBefore": were["last4"]} if were else {}
        audit.record(
            tenant_id=source.tenant_id,
            actor=actor,
            action=action,
            subject_id=source.pk,
            details={**sources.description(source), **before, "code": event.code},
            now=now,
        )


def _keep_back_off(source: FundingSource, known_before_as: str) -> None:
    """Leave the account alone for as long as before: its failures are counted by what it is known
    by."""
    rows = AccountBackOff.objects.filter(tenant_id=source.tenant_id)
    if not rows.filter(fingerprint=source.fingerprint).exists():
        rows.filter(fingerprint=known_before_as).update(fingerprint=source.fingerprint)


SOURCES = Sources(versions=FundingSourceVersion, key="source_id")
