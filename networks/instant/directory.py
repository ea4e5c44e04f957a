"""Which banks take what over an instant network, by the list that it publishes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple

from common.engine.lookups import one_of
from networks import return_codes
from networks.instant import participants
from networks.instant.iso.profiles import Profile
from networks.instant.models import Participant
from networks.instant.models.rails import ProfileName
from networks.instant.states import ConversationKind

_WHAT = {
    ConversationKind.PAYMENT: "payments",
    ConversationKind.REQUEST: "requests for payment",
    ConversationKind.GIVE_BACK: "returns of funds",
}


class Unreachable(NamedTuple):
    """Why a bank is not sent something: `code` is an InstructionRefused's."""

    code: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Directory:
    """What is known of some banks on the network's day. Without a list nothing is known."""

    profile: Profile
    day: date
    is_imported: bool
    banks: Mapping[str, Participant]

    def judge(self, routing_number: str, kind: ConversationKind) -> Unreachable | None:
        """Why this bank is not sent anything of this kind; None: it is tried."""
        bank = self.banks.get(routing_number)
        if not self.is_imported or (bank is None and self.profile.tries_unlisted):
            return None
        if bank is not None and self._takes(bank, kind):
            return None
        network = ProfileName(self.profile.name).label
        advice = "" if kind == ConversationKind.GIVE_BACK else " Use ACH instead."
        reason = f"This bank takes no {_WHAT[kind]} over {network}.{advice}"
        return Unreachable(return_codes.NOT_REACHED, reason)

    def _takes(self, bank: Participant, kind: ConversationKind) -> bool:
        begins, ends = bank.since or date.min, bank.until or date.max
        is_there = begins <= self.day <= ends
        if kind == ConversationKind.REQUEST:
            return is_there and bank.takes_requests
        if kind == ConversationKind.GIVE_BACK:
            return is_there and bank.takes_returns
        return is_there and bank.takes_payments


def look_up(profile: Profile, routing_numbers: Collection[str], *, now: datetime) -> Directory:
    """What the list in force says of these banks. Two queries, however many there are."""
    found = participants.current(profile.name)
    rows = Participant.objects.filter(one_of("routing_number", sorted(set(routing_numbers))))
    return Directory(
        profile=profile,
        day=profile.settlement_date(now),
        is_imported=found is not None,
        banks={row.routing_number: row for row in rows.filter(list=found)} if found else {},
    )
