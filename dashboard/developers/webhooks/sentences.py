"""What an event says, in a sentence: `$1,200.00 from Sandbox FCU ··6789 arrived`.

An event that an earlier or a later release wrote, or of a type that has no sentence here, is told
by the meaning of its type, or by the type itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from common.errors import DomainError
from common.ids import is_id
from common.money import format_cents
from dashboard.auto_funding import decisions
from dashboard.bank_accounts.names import account_name, bank_name
from funding import selectors as funding
from funding.services import notices
from funding.states import FundingStatus, SourceStatus
from networks import return_codes
from payments import selectors as payments
from payments.states import PaymentStatus
from webhooks import bodies, events
from webhooks.models import WebhookEvent

# The `data` of an event, and what its ids are called.
Data: TypeAlias = Mapping[str, Any]
Names: TypeAlias = Mapping[str, str]

_SUBJECTS = ("paymentId", "fundingTransactionId", "fundingSourceId")
_SOURCES = {
    SourceStatus.PENDING_VERIFICATION: "needs to be verified",
    SourceStatus.ACTIVE: "is ready to add money",
    SourceStatus.VERIFICATION_FAILED: "could not be verified",
    SourceStatus.ERRORED: "was refused by its bank",
    SourceStatus.REMOVED: "was removed",
}
# The states that a return code of the bank brings about. The account keeps the code afterwards.
_BY_CODE = (SourceStatus.VERIFICATION_FAILED, SourceStatus.ERRORED)
_WAITS: Mapping[str, str] = {
    FundingStatus.AWAITING_CONFIRMATION: "waits for approval",
    PaymentStatus.WAITING_FOR_FUNDS: "waits for money",
}
_FAILED = {
    "canceled": "was canceled",
    "confirmation_declined": "was declined by an approver",
    "confirmation_expired": "was not approved in time",
    "confirmation_superseded": "was withdrawn",
    "stopped_by_review": "was stopped by our review",
    "wait_expired": "was canceled, because the balance did not cover it in time",
}


def sentences(rows: Iterable[WebhookEvent], *, tenant_id: str) -> dict[str, str]:
    """What each of these events of the tenant says, by its id. Three queries at most, whatever the
    number of events."""
    told = {row.pk: (row.type, bodies.data_in(row.body)) for row in rows}
    names = _names({id for _, data in told.values() for id in _ids(data)}, tenant_id)
    return {pk: sentence(type, data, names) for pk, (type, data) in told.items()}


def sentence(type: str, data: Data, names: Names) -> str:
    """What an event of this type with this `data` says. `names`: `from …` or `to …` by the id of a
    funding or payment, the account by that of a bank account; an id may be missing."""
    tell = _SENTENCES.get(type)
    try:
        return tell(data, names) if tell else _meaning(type)
    except (KeyError, TypeError, ValueError):
        return _meaning(type)


def _meaning(type: str) -> str:
    return events.MEANINGS.get(type, type)


def _ids(data: Data) -> list[str]:
    return [id for name in _SUBJECTS if isinstance(id := data.get(name), str)]


def _names(ids: set[str], tenant_id: str) -> dict[str, str]:
    """The other side of each transfer, and the name of each bank account, of this tenant."""
    found: dict[str, str] = {}
    if paid := [id for id in ids if is_id(id, "pay")]:
        for pk, name, *_ in payments.other_sides(tenant_id=tenant_id, payment_ids=paid):
            found[pk] = f"to {name}"
    if added := [id for id in ids if is_id(id, "ftx")]:
        for pk, name, last4, _ in funding.other_sides(tenant_id=tenant_id, funding_ids=added):
            found[pk] = f"from {bank_name(name, last4)}"
    if accounts := [id for id in ids if is_id(id, "fs")]:
        for row in funding.sources(tenant_id=tenant_id).filter(pk__in=accounts):
            found[row.pk] = account_name(row)
    return found


def _money(data: Data, names: Names) -> str:
    """`$1,200.00 from Sandbox FCU ··6789`, or the amount and its direction."""
    subject = data.get("paymentId") or data.get("fundingTransactionId") or ""
    comes_in = data.get("direction") == "in" or is_id(subject, "ftx")
    side = names.get(subject) or ("into the balance" if comes_in else "out of the balance")
    return f"{format_cents(data['amount'])} {side}"


def _created(data: Data, names: Names) -> str:
    return f"{_money(data, names)} {_WAITS.get(data['status'], 'was ordered')}"


def _failed(data: Data, names: Names) -> str:
    code = data["failureCode"] or ""
    how = _FAILED.get(code) or f"failed{_in_words(code)}"
    return f"{_money(data, names)} {how}"


def _returned(data: Data, names: Names) -> str:
    return f"{_money(data, names)} was returned by the bank{_in_words(data['returnCode'] or '')}"


def _in_words(code: str) -> str:
    """` (R01, insufficient funds)`; only what people know of a code that is a word of ours."""
    if code in return_codes.ALL:
        return f" ({code}, {return_codes.ALL[code].title.lower()})"
    if code in DomainError.registry:
        return f": {DomainError.registry[code].title.lower()}"
    return f" ({code})" if code else ""


def _source_updated(data: Data, names: Names) -> str:
    account = names.get(data["fundingSourceId"], "A bank account")
    status = SourceStatus(data["status"])
    code = _in_words(data["lastReturnCode"] or "") if status in _BY_CODE else ""
    return f"{account} {_SOURCES[status]}{code}"


def _paused(data: Data, _: Names) -> str:
    return f"Auto-funding is paused. {notices.explain_pause(data['reason'])[0]}"


def _skipped(data: Data, _: Names) -> str:
    why = decisions.reason(data["reason"])
    return f"Auto-funding did not add {format_cents(data['fundingAmount'])}. {why}"


def _asked(data: Data, names: Names) -> str:
    return f"Approvers were asked about {_money(data, names)}"


def _low(data: Data, _: Names) -> str:
    available, threshold = data["availableBalance"], data["lowBalanceThreshold"]
    return (
        f"The balance is low: {format_cents(available)} is available, and the threshold is"
        f" {format_cents(threshold)}"
    )


_SENTENCES: dict[str, Callable[[Data, Names], str]] = {
    "payment.created": _created,
    "payment.processing": lambda data, names: f"{_money(data, names)} is on its way",
    "payment.completed": lambda data, names: f"{_money(data, names)} arrived",
    "payment.failed": _failed,
    "payment.returned": _returned,
    "funding_source.updated": _source_updated,
    "auto_funding.paused": _paused,
    "auto_funding.skipped": _skipped,
    "confirmation.requested": _asked,
    "balance.low": _low,
}
