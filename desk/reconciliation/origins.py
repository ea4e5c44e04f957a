"""Where the pages are of what caused a line of the books."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from django.urls import reverse

from balance.operator.lines import Cause
from funding.models import DEPOSIT_SOURCE_TYPE as DEPOSIT
from funding.models.transactions import SOURCE_TYPE as FUNDING
from payments.models.payments import SOURCE_TYPE as PAYMENT
from reconciliation.booking import SOURCE_TYPE as BOOKED
from reconciliation.clearing import SOURCE_TYPE as CLEARING
from reconciliation.models import Clearing
from transfers.dishonors import SOURCE_TYPE as DISHONOR
from transfers.inbox.models import ReturnDishonor

_PAGES = {
    FUNDING: "desk:funding",
    PAYMENT: "desk:payment",
    BOOKED: "desk:suspense_line",
    DEPOSIT: "desk:entry",
}
_OF_DIRECTION = {"in": _PAGES[FUNDING], "out": _PAGES[PAYMENT]}


def pages_of(causes: Collection[Cause]) -> Mapping[str, str]:
    """The addresses of the causes that have a page, by their ids. Two queries at most.

    A clearing leads to the line of the bank that it cleared, and a dishonor to the funding or
    payment whose return it was.
    """
    found = {
        each.source_id: reverse(_PAGES[each.source_type], args=[each.source_id])
        for each in causes
        if each.source_type in _PAGES
    }
    if clearings := _ids(causes, CLEARING):
        rows = Clearing.objects.filter(pk__in=clearings).values_list("pk", "booked_id")
        found |= {pk: reverse(_PAGES[BOOKED], args=[booked_id]) for pk, booked_id in rows}
    if dishonors := _ids(causes, DISHONOR):
        of_transfers = ReturnDishonor.objects.filter(pk__in=dishonors)
        for pk, direction, transfer in of_transfers.values_list("pk", "direction", "subject_id"):
            found[pk] = reverse(_OF_DIRECTION[direction], args=[transfer])
    return found


def _ids(causes: Collection[Cause], source_type: str) -> list[str]:
    return [each.source_id for each in causes if each.source_type == source_type]
