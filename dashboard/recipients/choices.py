"""The saved recipients that a form offers."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import CharField, QuerySet

from common.engine.compiled_rows import Rows
from common.ids import is_id
from dashboard.bank_accounts.names import account_name
from dashboard.recipients.forms import RecipientSearch
from payments import selectors
from payments.models import Recipient

SHOWN_MAX = 200
FOUND_MAX = 20


@dataclass(frozen=True)
class RecipientChoices:
    """Ids and names. `are_cut`: there are more, which only the list of recipients leads to."""

    names: list[tuple[str, str]]
    are_cut: bool


def recipient_choices(
    *, tenant_id: str, chosen: str, with_removed: bool = False
) -> RecipientChoices:
    """The first 200 by name, and the chosen one, wherever it stands; `with_removed`: also if it was
    removed."""
    first = _FIRST.read(tenant_id=tenant_id)
    rows = first[:SHOWN_MAX]
    are_cut = len(first) > SHOWN_MAX
    is_missing = is_id(chosen, "rcp") and chosen not in {row.pk for row in rows}
    if is_missing and (are_cut or with_removed):
        known = selectors.recipients if with_removed else selectors.kept_recipients
        rows += known(tenant_id=tenant_id).filter(pk=chosen)
    return RecipientChoices([(row.pk, _name(row)) for row in rows], are_cut)


def _first(tenant_id: str) -> QuerySet[Recipient]:
    return selectors.kept_recipients(tenant_id=tenant_id)[: SHOWN_MAX + 1]


_FIRST = Rows(_first, tenant_id=CharField())


def found_recipients(form: RecipientSearch, *, tenant_id: str) -> dict[str, object]:
    """What the search box is answered: the first 20 that fit, and whether there are more."""
    rows = list(form.found(tenant_id=tenant_id)[: FOUND_MAX + 1])
    found = [
        {
            "id": row.pk,
            "name": row.display_name,
            "holder": row.account_holder_name if row.nickname else "",
            "account": account_name(row),
        }
        for row in rows[:FOUND_MAX]
    ]
    return {"recipients": found, "more": len(rows) > FOUND_MAX}


def _name(row: Recipient) -> str:
    """`Supplier LLC, First Platypus Bank ··6789`."""
    return f"{row.display_name}, {account_name(row)}"
