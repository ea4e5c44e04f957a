"""How messages and instructions are named: by the day, by whose they are, and by a number.

RTP: `M` (`B` for the header), day, participant (11 characters), `B`, three characters of the system
and eleven digits; an instruction has no letter before, and four characters. FedNow: day, routing
number and eighteen digits. All have 35 characters.
"""

from __future__ import annotations

import hashlib
import uuid
from datetime import date

from networks.instant.iso.profiles import RTP, Profile

LENGTH_MAX = 35
_MESSAGE, _INSTRUCTION = "BLS", "BLST"  # what RTP calls the system that made the id


def message_id(profile: Profile, *, participant: str, day: date, number: int) -> str:
    """The id of a message. `day` is the Eastern one; `number` is to be used once on a day.

    Raises ValueError for a participant or a number that does not fit.
    """
    if profile is RTP:
        return f"M{_rtp(participant, day, _MESSAGE, number)}"
    return _fednow(participant, day, number)


def instruction_id(profile: Profile, *, participant: str, day: date, number: int) -> str:
    """The id of an instruction, which is the payment's end-to-end id as well. Raises ValueError."""
    if profile is RTP:
        return _rtp(participant, day, _INSTRUCTION, number)
    return _fednow(participant, day, number)


def business_id(profile: Profile, message_id: str) -> str:
    """The id that a message has in its header."""
    return f"B{message_id[1:]}" if profile is RTP else message_id


def _rtp(participant: str, day: date, system: str, number: int) -> str:
    return f"{_start(participant, day, RTP.participant_length)}B{system}{_digits(number, 11)}"


def _fednow(participant: str, day: date, number: int) -> str:
    return f"{_start(participant, day, 9)}{_digits(number, 18)}"


def _start(participant: str, day: date, length: int) -> str:
    if len(participant) != length or not participant.isalnum():
        raise ValueError(f"a participant has {length} letters and digits")
    return f"{day:%Y%m%d}{participant}"


def _digits(number: int, width: int) -> str:
    digits = f"{number:0{width}d}"
    if number < 0 or len(digits) > width:
        raise ValueError(f"a number has up to {width} digits")
    return digits


def uetr(seed: str) -> str:
    """The unique end-to-end transaction reference of a payment: the same for the same seed, in the
    form of a random UUID (version 4), which is the only one that networks take."""
    digest = hashlib.sha256(seed.encode()).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))
