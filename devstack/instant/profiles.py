"""What the two networks have of their own: names, versions, ids, clocks, limits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from types import MappingProxyType
from zoneinfo import ZoneInfo

EASTERN = ZoneInfo("America/New_York")
ISO = "urn:iso:std:iso:20022:tech:xsd:"
# Of both networks, since February 2025 and November 2025.
LIMIT_CENTS = 1_000_000_000

REQUEST, REQUEST_ANSWER = "pain.013", "pain.014"
PAYMENT, STATUS, STATUS_REQUEST, RETURN = "pacs.008", "pacs.002", "pacs.028", "pacs.004"
RETURN_REQUEST, RESOLUTION, REJECTION = "camt.056", "camt.029", "admi.002"


class BadMoment(ValueError):
    """A date and time that the network does not write so."""


@dataclass(frozen=True)
class Profile:
    """One network. `wrappers` is the element around a message, by the message's short name."""

    name: str
    title: str
    operator_id: str
    header: str
    versions: Mapping[str, str]
    wrappers: Mapping[str, str]
    accepted: str
    """What the payer's bank is told of a payment that is settled and posted."""
    timed_out: str
    not_reachable: str
    day_ends_at: time
    """Eastern. What settles later belongs to the next cycle day."""

    @property
    def is_rtp(self) -> bool:
        return self.name == "rtp"

    @property
    def repeats(self) -> bool:
        """Whether a sender without an answer repeats its message, marked as a duplicate. Otherwise
        it asks what became of it, and a known message id is refused."""
        return self.is_rtp

    def participant_id(self, routing: str) -> str:
        """As headers name a participant."""
        return f"{routing}T1" if self.is_rtp else routing

    def message_id(self, routing: str, number: int, now: datetime) -> str:
        day = f"{now.astimezone(EASTERN):%Y%m%d}"
        if self.is_rtp:
            return f"M{day}{self.participant_id(routing)}BSTD{number:011}"
        return f"{day}{routing}STD{number:011}"

    def business_id(self, message_id: str) -> str:
        """The header's id of a message."""
        return f"B{message_id[1:]}" if self.is_rtp else message_id

    def instruction_id(self, routing: str, number: int, now: datetime) -> str:
        day = f"{now.astimezone(EASTERN):%Y%m%d}"
        if self.is_rtp:
            return f"{day}{self.participant_id(routing)}BSTDI{number:011}"
        return f"{day}{routing}STDI{number:011}"

    def written(self, moment: datetime) -> str:
        """A date and time as its messages carry it: Eastern, with the offset or without."""
        here = moment.astimezone(EASTERN).replace(microsecond=0)
        return here.replace(tzinfo=None).isoformat() if self.is_rtp else here.isoformat()

    def read(self, text: str) -> datetime:
        """The instant in UTC. Raises BadMoment."""
        form = _LOCAL if self.is_rtp else _WITH_OFFSET
        if not form.fullmatch(text):
            raise BadMoment(f"{text!r} is no date and time of {self.title}")
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise BadMoment(f"{text!r} is no date and time") from None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=EASTERN)
        return moment.astimezone(UTC)

    def cycle_day(self, moment: datetime) -> date:
        """The day to which a settlement belongs; weekends and holidays are days like others."""
        here = moment.astimezone(EASTERN)
        is_over = self.day_ends_at != time(0) and here.time() >= self.day_ends_at
        return here.date() + timedelta(days=1) if is_over else here.date()

    def end_of_day(self, day: date) -> datetime:
        """The instant at which a cycle day is over, in UTC."""
        last = day + timedelta(days=1) if self.day_ends_at == time(0) else day
        return datetime.combine(last, self.day_ends_at, EASTERN).astimezone(UTC)

    def full_name(self, message: str) -> str:
        """With the version: pacs.008.001.08."""
        return f"{message}.{self.versions[message]}"

    def namespace(self, message: str) -> str:
        return f"{ISO}{self.full_name(message)}"


_LOCAL = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?")
_WITH_OFFSET = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)")
_VERSIONS = {
    REQUEST: "001.07",
    REQUEST_ANSWER: "001.07",
    PAYMENT: "001.08",
    STATUS: "001.10",
    RETURN_REQUEST: "001.08",
    RESOLUTION: "001.09",
    REJECTION: "001.01",
}
RTP = Profile(
    name="rtp",
    title="RTP",
    operator_id="990000001T1",
    header=f"{ISO}head.001.001.01",
    versions=MappingProxyType(_VERSIONS),
    wrappers=MappingProxyType(
        {
            REQUEST: "PaymentRequest",
            REQUEST_ANSWER: "ResponsePaymentRequest",
            PAYMENT: "CreditTransfer",
            STATUS: "MessageStatusReport",
            RETURN_REQUEST: "ReturnOfFunds",
            RESOLUTION: "ResponseReturnOfFunds",
            REJECTION: "MessageReject",
        }
    ),
    accepted="ACTC",
    timed_out="DS24",
    not_reachable="9912",
    day_ends_at=time(0),
)
FEDNOW = Profile(
    name="fednow",
    title="FedNow",
    operator_id="021150706",
    header=f"{ISO}head.001.001.02",
    versions=MappingProxyType({**_VERSIONS, STATUS_REQUEST: "001.03", RETURN: "001.10"}),
    wrappers=MappingProxyType(
        {
            REQUEST: "FedNowRequestForPayment",
            REQUEST_ANSWER: "FedNowRequestForPaymentResponse",
            PAYMENT: "FedNowCustomerCreditTransfer",
            STATUS: "FedNowPaymentStatus",
            STATUS_REQUEST: "FedNowPaymentStatusRequest",
            RETURN: "FedNowPaymentReturn",
            RETURN_REQUEST: "FedNowReturnRequest",
            RESOLUTION: "FedNowReturnRequestResponse",
            REJECTION: "FedNowMessageReject",
        }
    ),
    accepted="ACSC",
    timed_out="E997",
    not_reachable="AGNT",
    day_ends_at=time(19),
)
PROFILES: Mapping[str, Profile] = MappingProxyType({each.name: each for each in (RTP, FEDNOW)})
