"""Recipients as lists show them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from common import lookalikes
from dashboard.bank_accounts.names import account_name
from payments.models import Recipient
from payments.services.cool_down import New


@dataclass(frozen=True)
class RecipientLine:
    """One saved recipient; the account number itself is never shown."""

    id: str
    name: str
    holder: str
    account: str
    kind: str
    added_at: datetime
    corrected_at: datetime | None
    new: New | None

    @property
    def warning(self) -> str:
        """What to look at twice in its names; may be empty."""
        return lookalikes.warning(self.name, self.holder)


def recipient_line(row: Recipient, *, new: New | None = None) -> RecipientLine:
    return RecipientLine(
        id=row.pk,
        name=row.display_name,
        holder=row.account_holder_name,
        account=account_name(row),
        kind=f"{row.get_account_type_display()}, {row.get_account_holder_type_display().lower()}",
        added_at=row.created_at,
        corrected_at=row.corrected_at,
        new=new,
    )
