"""The kinds of bank accounts whose numbers we keep, and their earlier versions: one page shows them
all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from django.urls import reverse

from common.errors import NotFound
from funding import selectors as funding
from funding.models import FundingSource, FundingSourceVersion
from payments import selectors as payments
from payments.models import Recipient, RecipientVersion

Account: TypeAlias = FundingSource | FundingSourceVersion | Recipient | RecipientVersion


@dataclass(frozen=True)
class Kind:
    """Who may see such a number, how it is found, and what the audit log calls looking at it."""

    permission: str
    find: Callable[[str], Account]
    action: str
    admin_page: str

    def admin_address(self, account_id: str) -> str:
        return reverse(self.admin_page, args=[account_id])


def kind_of(account_id: str) -> Kind:
    """Find the kind of an account by the prefix of its id. Raises NotFound."""
    kind = _KINDS.get(account_id.partition("_")[0])
    if kind is None:
        raise NotFound("There is no such account.")
    return kind


_KINDS = {
    "fs": Kind(
        "funding.reveal_source_number",
        funding.any_source,
        "funding_source.number_revealed",
        "admin:funding_fundingsource_change",
    ),
    "fsv": Kind(
        "funding.reveal_source_number",
        funding.any_source_version,
        "funding_source.number_revealed",
        "admin:funding_fundingsourceversion_change",
    ),
    "rcv": Kind(
        "payments.reveal_recipient_number",
        payments.any_recipient_version,
        "recipient.number_revealed",
        "admin:payments_recipientversion_change",
    ),
    "rcp": Kind(
        "payments.reveal_recipient_number",
        payments.any_recipient,
        "recipient.number_revealed",
        "admin:payments_recipient_change",
    ),
}
