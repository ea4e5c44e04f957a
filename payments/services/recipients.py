"""The accounts that payments go to: given with a payment, or saved for the next one."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from networks import bank_details, routing
from networks.bank_details import BankDetails
from networks.base import BankAccount
from payments import selectors
from payments.errors import DuplicateRecipient, RecipientRemoved
from payments.models import NICKNAME_LENGTH_MAX, Recipient
from payments.services import exemption
from tenants import access_mails
from tenants.actors import Actor
from tenants.models import Mode, Tenant
from tenants.services import audit


@transaction.atomic
def save(
    *, tenant_id: str, details: BankDetails, actor: Actor, now: datetime, nickname: str = ""
) -> Recipient:
    """Put an account on the tenant's list. Raises InvalidBankDetails, DuplicateRecipient.

    Additions of one tenant run one after the other, so that an account sent twice at once is
    refused as a duplicate. One by an owner who is alone is mailed, because nobody is asked about
    the first payment to it (decision 0184).
    """
    account = bank_details.bank_account(details)
    tenant = Tenant.objects.select_for_update(no_key=True).get(pk=tenant_id)
    recipient = _unsaved(tenant_id, account, is_saved=True, now=now)
    recipient.nickname = _tidy(nickname)
    same = selectors.saved_as(recipient.fingerprints, tenant_id=tenant_id)
    if (existing := same.first()) is not None:
        raise DuplicateRecipient(
            f"This account is already saved as {existing.pk}.", existing_id=existing.pk
        )
    recipient.save(force_insert=True)
    record("recipient.saved", recipient, actor, now)
    if tenant.mode == Mode.LIVE and exemption.is_alone(tenant_id=tenant_id, actor=actor, now=now):
        access_mails.tell_of_recipient(
            tenant_id,
            name=recipient.display_name,
            account=f"{recipient.bank_name} ending in {recipient.last4}",
            by=actor,
            now=now,
        )
    return recipient


@transaction.atomic
def rename(
    *, tenant_id: str, recipient_id: str, nickname: str, actor: Actor, now: datetime
) -> Recipient:
    """Change the nickname of a saved recipient; with an empty one, the name on its account is
    shown.

    The bank still sees the account holder's name. Raises NotFound, RecipientRemoved.
    """
    seen = selectors.recipient(tenant_id=tenant_id, recipient_id=recipient_id)
    recipient = Recipient.objects.select_for_update(no_key=True).get(pk=seen.pk)
    _require_kept(recipient)
    recipient.nickname = _tidy(nickname)
    recipient.save(update_fields=("nickname",))
    record("recipient.renamed", recipient, actor, now)
    return recipient


@transaction.atomic
def remove(*, tenant_id: str, recipient_id: str, actor: Actor, now: datetime) -> Recipient:
    """Take a recipient off the list. Payments to it that are already made go on. Repeatable.

    Raises NotFound.
    """
    seen = selectors.recipient(tenant_id=tenant_id, recipient_id=recipient_id)
    recipient = Recipient.objects.select_for_update(no_key=True).get(pk=seen.pk)
    if recipient.removed_at is None:
        recipient.removed_at = now
        recipient.save(update_fields=("removed_at",))
        record("recipient.removed", recipient, actor, now)
    return recipient


def for_payment(*, tenant_id: str, given: str | BankDetails, now: datetime) -> Recipient:
    """The saved recipient of this id, or a new row for an account that came with the payment: as
    its bank has corrected it since, because what goes out must not repeat the error (decision
    0162).

    Raises NotFound, RecipientRemoved, InvalidBankDetails, common.crypto.Undecryptable.
    """
    if not isinstance(given, str):
        account = selectors.as_corrected(bank_details.bank_account(given), tenant_id=tenant_id)
        recipient = _unsaved(tenant_id, account, is_saved=False, now=now)
        recipient.save(force_insert=True)
        return recipient
    return kept(tenant_id=tenant_id, recipient_id=given)


def kept(*, tenant_id: str, recipient_id: str) -> Recipient:
    """A saved recipient that can be paid. Raises NotFound, RecipientRemoved."""
    recipient = selectors.recipient(tenant_id=tenant_id, recipient_id=recipient_id)
    _require_kept(recipient)
    return recipient


def _require_kept(recipient: Recipient) -> None:
    if recipient.removed_at is not None:
        raise RecipientRemoved("This recipient was removed.", field="recipientId")


def _tidy(nickname: str) -> str:
    return " ".join(nickname.split())[:NICKNAME_LENGTH_MAX]


def _unsaved(tenant_id: str, account: BankAccount, *, is_saved: bool, now: datetime) -> Recipient:
    """An unsaved recipient. It has its id already, because the encryption of the number is bound to
    it."""
    recipient = Recipient(
        tenant_id=tenant_id,
        is_saved=is_saved,
        bank_name=routing.bank_name(account.routing_number),
        created_at=now,
    )
    recipient.fill(account)
    recipient.fingerprint = selectors.called(recipient.fingerprints, tenant_id=tenant_id)
    return recipient


def record(action: str, recipient: Recipient, actor: Actor, now: datetime, **details: str) -> None:
    """Write to the audit log what was done with a recipient, or happened to it."""
    audit.record(
        tenant_id=recipient.tenant_id,
        actor=actor,
        action=action,
        subject_id=recipient.pk,
        details={
            "name": recipient.display_name,
            "bankName": recipient.bank_name,
            "last4": recipient.last4,
            "routingNumber": recipient.routing_number,
            **details,
        },
        now=now,
    )
