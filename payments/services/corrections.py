"""What a recipient's bank says about the account, and where that lands."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from payments import selectors
from payments.models import Recipient, RecipientVersion
from payments.services import notices, recipients
from tenants.actors import Actor
from transfers.corrections import AccountBook, Corrected
from transfers.inbox.models import InboundEvent


class Recipients(AccountBook[Recipient]):
    """The accounts that payments go to."""

    def lock(self, account_id: str) -> Recipient:
        return Recipient.objects.select_for_update(no_key=True).get(pk=account_id)

    def is_removed(self, account: Recipient) -> bool:
        return account.removed_at is not None

    def other_of(self, account: Recipient, fingerprints: Collection[str]) -> Recipient | None:
        """Only of what is on the tenant's list: of an account that came with a payment there may
        be any number of rows."""
        if not account.is_saved:
            return None
        kept = selectors.saved_as(fingerprints, tenant_id=account.tenant_id)
        return kept.exclude(pk=account.pk).first()

    def called(self, fingerprints: Sequence[str], account: Recipient) -> str:
        return selectors.called(fingerprints, tenant_id=account.tenant_id)

    def tell(self, corrected: Corrected, actor: Actor, now: datetime) -> None:
        recipient, event = corrected.account, corrected.event
        details = {"lastFourBefore": corrected.before["last4"], "code": event.code}
        recipients.record("recipient.corrected", recipient, actor, now, **details)
        if recipient.is_saved:
            notices.corrected(
                recipient=recipient, was=corrected.before["last4"], what=corrected.words, now=now
            )

    def note(self, account: Recipient, event: InboundEvent, actor: Actor, now: datetime) -> None:
        recipients.record("recipient.correction_noted", account, actor, now, code=event.code)


RECIPIENTS = Recipients(versions=RecipientVersion, key="recipient_id")
