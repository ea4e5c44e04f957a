"""The two kinds of bank accounts whose numbers we keep: one page shows both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.urls import reverse

from common.errors import NotFound
from funding import selectors as funding
from funding.models import FundingSource
from payments import selectors as payments
from payments.models import Recipient


@dataclass(frozen=True)
class Kind:
    """Who may see such a number, how it is found, and what the audit log calls looking at it."""

    permission: str
    find: Callable[[str], FundingSource | Recipient]
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
    "rcp": Kind(
        "payments.reveal_recipient_number",
        payments.any_recipient,
        "recipient.number_revealed",
        "admin:payments_recipient_change",
    ),
}
