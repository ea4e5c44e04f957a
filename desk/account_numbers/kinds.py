"""The two kinds of bank accounts whose numbers we keep: one page shows both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from common.errors import NotFound
from funding import selectors as funding
from funding.models import FundingSource
from funding.services import disclosure as of_sources
from payments import selectors as payments
from payments.models import Recipient
from payments.services import disclosure as of_recipients
from tenants.actors import Actor


@dataclass(frozen=True)
class Kind:
    """Who may see such a number, and how it is found and shown."""

    permission: str
    find: Callable[[str], FundingSource | Recipient]
    reveal: Callable[[str, str, Actor, datetime], str]
    admin_page: str

    def admin_address(self, account_id: str) -> str:
        return reverse(self.admin_page, args=[account_id])


def kind_of(account_id: str) -> Kind:
    """Find the kind of an account by the prefix of its id. Raises NotFound."""
    kind = _KINDS.get(account_id.partition("_")[0])
    if kind is None:
        raise NotFound("There is no such account.")
    return kind


def _of_source(account_id: str, reason: str, actor: Actor, now: datetime) -> str:
    return of_sources.account_number(source_id=account_id, reason=reason, actor=actor, now=now)


def _of_recipient(account_id: str, reason: str, actor: Actor, now: datetime) -> str:
    return of_recipients.account_number(
        recipient_id=account_id, reason=reason, actor=actor, now=now
    )


_KINDS = {
    "fs": Kind(
        "funding.reveal_source_number",
        funding.any_source,
        _of_source,
        "admin:funding_fundingsource_change",
    ),
    "rcp": Kind(
        "payments.reveal_recipient_number",
        payments.any_recipient,
        _of_recipient,
        "admin:payments_recipient_change",
    ),
}
