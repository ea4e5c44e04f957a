"""In what RTP and FedNow differ: limits, ids, versions, codes, clocks, and what follows silence.

Sources: The Clearing House's and the Federal Reserve's published message sets and operating
procedures, as far as they are public; a figure that is not published says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from types import MappingProxyType
from zoneinfo import ZoneInfo

EASTERN = ZoneInfo("America/New_York")


class Silence(StrEnum):
    """What to do about a payment that nobody answers."""

    REPEAT = "repeat"  # the identical message, marked as a duplicate
    ASK = "ask"  # pacs.028; the same message again if the network has none


class Returns(StrEnum):
    """How a receiver gives the money of a payment back."""

    MESSAGE = "pacs.004"
    PAYMENT = "payment"  # a new one, which names the first


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What one network asks of messages. Amounts are US cents."""

    name: str
    operator: str  # who sends and receives the network's own messages, in headers
    amount_max: int
    limits_as_of: date
    versions: Mapping[str, str] = field(hash=False)  # by the kind of a message: `001.08`
    header_version: str
    participant_length: int  # in headers
    payment_statuses: frozenset[str]  # of pacs.002
    request_statuses: frozenset[str]  # of pain.014
    has_offset: bool  # whether moments are written with an offset from UTC
    rolls_at: time  # when the network's day ends, Eastern time
    payment_timeout: timedelta | None  # from the message's moment to settlement or rejection
    unanswered_after: timedelta  # when what `silence` says is done, at the earliest
    silence: Silence
    returns: Returns
    skew_max: timedelta  # how far ahead of our clock a message's moment may be
    tries_unlisted: bool  # whether a bank is tried that the imported list of banks does not name

    def full_name(self, kind: str) -> str:
        """`pacs.008.001.08`. Raises KeyError for a message that the network does not have."""
        return f"{kind}.{self.versions[kind]}"

    def settlement_date(self, at: datetime) -> date:
        """The network's day of a moment, weekends and holidays as well."""
        local = at.astimezone(EASTERN)
        is_next = self.rolls_at != time() and local.time() >= self.rolls_at
        return local.date() + timedelta(days=is_next)

    def pending_until(self, next_banking_day: date) -> datetime:
        """By when a payment that was accepted without being posted (ACWP) is posted or given back:
        midnight, Eastern time, at the end of the banking day after its acceptance."""
        end = datetime.combine(next_banking_day + timedelta(days=1), time(), EASTERN)
        return end.astimezone(_UTC)


_UTC = ZoneInfo("UTC")
_VERSIONS = {
    "pain.013": "001.07",
    "pain.014": "001.07",
    "pacs.008": "001.08",
    "pacs.002": "001.10",
    "camt.056": "001.08",
    "camt.029": "001.09",
    "admi.002": "001.01",
}

RTP = Profile(
    name="rtp",
    operator="990000001T1",
    amount_max=10_000_000_00,
    limits_as_of=date(2025, 2, 9),
    versions=MappingProxyType(_VERSIONS),
    header_version="001.01",
    participant_length=11,
    payment_statuses=frozenset(("ACTC", "ACWP", "RCVD", "RJCT")),
    request_statuses=frozenset(("ACTC", "RJCT")),
    has_offset=False,
    rolls_at=time(),
    payment_timeout=None,  # not published
    unanswered_after=timedelta(seconds=20),  # not published: ours
    silence=Silence.REPEAT,
    returns=Returns.PAYMENT,
    skew_max=timedelta(minutes=5),
    tries_unlisted=False,  # the list is complete, and comes every day
)

FEDNOW = Profile(
    name="fednow",
    operator="021150706",
    amount_max=10_000_000_00,
    limits_as_of=date(2025, 11, 1),
    versions=MappingProxyType(_VERSIONS | {"pacs.028": "001.03", "pacs.004": "001.10"}),
    header_version="001.02",
    participant_length=9,
    payment_statuses=frozenset(
        ("ACTC", "ACWP", "RCVD", "RJCT", "ACSC", "ACCC", "PDNG", "BLCK"),
    ),
    request_statuses=frozenset(("RCVD", "PRES", "ACTC", "RJCT")),
    has_offset=True,
    rolls_at=time(19),
    payment_timeout=timedelta(seconds=20),
    unanswered_after=timedelta(seconds=25),
    silence=Silence.ASK,
    returns=Returns.MESSAGE,
    skew_max=timedelta(minutes=5),
    tries_unlisted=True,  # how often the list comes is not published; the network refuses it
)

PROFILES: Mapping[str, Profile] = MappingProxyType({each.name: each for each in (RTP, FEDNOW)})
