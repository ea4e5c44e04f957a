"""The `data` of each event, typed once: publishers fill it, the document describes it
(`webhooks/api/openapi.py`), and the Python client repeats it (`ballast_client/types.py`).

A field is a member of the JSON, in camelCase and in this order. A field whose default is None is
left out while it is None. A text in `Annotated` is what the document says of the member. Receivers
take new members in their stride; renaming, retyping or removing one breaks them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from common import clock
from common.money import CURRENCY

Cents = Annotated[int, "Cents."]


@dataclass(frozen=True, kw_only=True)
class Data:
    """What an event tells, apart from its name and time."""


@dataclass(frozen=True, kw_only=True)
class Attempt(Data):
    """One way by which a payment was tried."""

    number: Annotated[int, "Counts up per payment."]
    method: str
    network: Annotated[str | None, "The instant network that carries it; null for ACH."]
    outcome: Annotated[
        Literal["pending", "completed", "refused", "returned"],
        "`refused`: no money moved by it.",
    ]
    code: Annotated[str | None, "What the network said, if it was refused or returned."]
    started_at: Annotated[datetime | None, "When the network took it over."]
    ended_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class PaymentData(Data):
    """A funding transaction or a payment at a `payment.…` event."""

    payment_id: str
    amount: Cents
    status: str
    currency: str = CURRENCY
    direction: Literal["in", "out"]
    sequence: Annotated[int, "Counts up per payment."]
    failure_code: str | None
    return_code: str | None
    network: Annotated[str | None, "The instant network that carries it; null for ACH."]
    method: Annotated[str | None, "What was asked for. Only of a payment."] = None
    method_used: Annotated[str | None, "The method in use, or the last one. Only of a payment."] = (
        None
    )
    attempts: Annotated[
        tuple[Attempt, ...] | None,
        "The ways by which it was tried, the first one first. Only of a payment.",
    ] = None


@dataclass(frozen=True, kw_only=True)
class Notice(Data):
    """What only the endpoints hear that name its `type`."""

    type: ClassVar[str]


@dataclass(frozen=True, kw_only=True)
class FundingSourceUpdated(Notice):
    type = "funding_source.updated"

    funding_source_id: str
    status: str
    last_return_code: str | None


@dataclass(frozen=True, kw_only=True)
class AutoFundingPaused(Notice):
    type = "auto_funding.paused"

    reason: str
    paused_until: datetime | None
    available_balance: Cents


@dataclass(frozen=True, kw_only=True)
class AutoFundingSkipped(Notice):
    type = "auto_funding.skipped"

    reason: str
    available_balance: Cents
    low_balance_threshold: Cents
    funding_amount: Cents


@dataclass(frozen=True, kw_only=True)
class ConfirmationRequested(Notice):
    """It names a funding transaction or a payment."""

    type = "confirmation.requested"

    confirmation_id: str
    funding_transaction_id: Annotated[str | None, "Where a top-up is asked about."] = None
    payment_id: Annotated[str | None, "Where a payment is asked about."] = None
    amount: Cents
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class BalanceLow(Notice):
    type = "balance.low"

    available_balance: Cents
    pending_balance: Cents
    low_balance_threshold: Cents


@dataclass(frozen=True, kw_only=True)
class PingData(Data):
    """What a test call sends. It is never stored."""

    webhook_id: str


NOTICES: dict[str, type[Notice]] = {
    notice.type: notice
    for notice in (
        FundingSourceUpdated,
        AutoFundingPaused,
        AutoFundingSkipped,
        ConfirmationRequested,
        BalanceLow,
    )
}


class Member(NamedTuple):
    """A field and its name in JSON."""

    attribute: str
    name: str
    is_optional: bool


def _members_of(data: type[Data]) -> tuple[Member, ...]:
    return tuple(Member(row.name, _camel(row.name), row.default is None) for row in fields(data))


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


# The members of each body's `data`, in order.
MEMBERS = {data: _members_of(data) for data in (Attempt, PaymentData, PingData, *NOTICES.values())}


def bytes_of(*, event_id: str, type: str, data: Data, now: datetime) -> bytes:
    """The bytes every receiver gets: compact, and ASCII so that no charset can spoil them."""
    payload = {"id": event_id, "type": type, "data": data, "timestamp": clock.text_of(now)}
    return _JSON.encode(payload).encode("ascii")


def data_in(body: bytes | memoryview) -> Mapping[str, Any]:
    """The `data` of a stored body. It is empty where a body of another release has none that is an
    object. Raises ValueError for what is no JSON."""
    told = json.loads(bytes(body))
    data = told.get("data") if isinstance(told, dict) else None
    return data if isinstance(data, dict) else {}


def _told(value: object) -> str | dict[str, object]:
    if isinstance(value, Data):
        return {
            name: member
            for attribute, name, is_optional in MEMBERS[value.__class__]
            if (member := getattr(value, attribute)) is not None or not is_optional
        }
    if not isinstance(value, datetime):
        raise TypeError(f"{value!r} cannot be told in JSON")
    return clock.text_of(value)


_JSON = json.JSONEncoder(separators=(",", ":"), default=_told)
