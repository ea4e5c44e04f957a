"""What an operator and we agreed about one instant rail: who we are to it, and how it is reached.

It is stored as JSON (`InstantVersion.terms`). Amounts are cents, durations seconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from datetime import timedelta
from enum import StrEnum
from typing import Any

from common.money import AMOUNT_MAX as MONEY_MAX
from networks import routing

AMOUNT_MAX = 1_000_000_000
_PARTICIPANT = re.compile(r"\d{9}([A-Z0-9]{2})?")
_ADDRESS = re.compile(r"https://[A-Za-z0-9.\[\]:-]+(/[A-Za-z0-9._~-]+)*/?", re.ASCII)
# Any folder, and in it a name in which a star stands for anything.
_FILES = re.compile(r"(/(?!\.\.?/)[^/\x00-\x1f\x7f]+)+/[A-Za-z0-9_*-][A-Za-z0-9._*-]*")
_PIN = re.compile(r"[0-9a-f]{64}")
_NAME_MAX = 140
PINS_MAX = 2  # the key in use and the next one


class InvalidTerms(ValueError):
    """Terms that nothing can be sent by. `problems` has a sentence for each field."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {problem}" for name, problem in problems.items()))
        self.problems = dict(problems)


class TransportKind(StrEnum):
    HTTPS = "https"
    FOLDER = "folder"


@dataclass(frozen=True, kw_only=True)
class Connection:
    """How the operator is reached: by HTTPS with mutual TLS, or by folders of files.

    `pins` are SHA-256 digests, in hex, of the public keys that the server may have: the present
    one, and the next one while it changes.
    """

    kind: TransportKind = TransportKind.HTTPS
    base_url: str = ""
    pins: tuple[str, ...] = ()
    folder: str = ""
    timeout: timedelta = timedelta(seconds=5)  # of one call

    @classmethod
    def parse(cls, stored: Mapping[str, Any]) -> Connection:
        values = dict(stored)
        if "kind" in values:
            values["kind"] = TransportKind(values["kind"])
        if "pins" in values:
            values["pins"] = tuple(values["pins"])
        if "timeout" in values:
            values["timeout"] = timedelta(seconds=values["timeout"])
        return cls(**values)

    def problems(self) -> Iterator[str]:
        if self.kind == TransportKind.FOLDER:
            if not self.folder.startswith("/"):
                yield "needs the full path of a folder"
            return
        if not _ADDRESS.fullmatch(self.base_url):
            yield "needs an address such as https://bank.example/rtp"
        is_pinned = 0 < len(set(self.pins)) == len(self.pins) <= PINS_MAX
        if not is_pinned or not all(_PIN.fullmatch(pin) for pin in self.pins):
            yield "needs one or two SHA-256 digests of the server's public key, in hex"
        if not timedelta(seconds=1) <= self.timeout <= timedelta(seconds=20):
            yield "waits 1 to 20 seconds for an answer"


@dataclass(frozen=True, kw_only=True)
class RailTerms:
    """All of it. Raises InvalidTerms when it is made of what cannot be.

    `participant` is what the network calls our bank: eleven characters on RTP, the routing number
    on FedNow. Money that comes in goes to the account of `InstantVersion.account`, in the name of
    `creditor_name`. Where nobody answers a payment, the network is asked, or told again;
    after `tries_unknown` times a person is told as well.
    """

    participant: str
    routing_number: str
    creditor_name: str
    request_max: int = AMOUNT_MAX
    payment_max: int = AMOUNT_MAX
    tries_unknown: int = 5
    settlement_account: str = ""  # a note for people; our ledger goes by the name of the rail
    keeps_position: bool = False  # nothing leaves beyond the money that lies at the network
    position_warn_below: int = 0  # cents at the network below which people are told
    statements: str = ""  # files that the operator puts there, as /srv/bank/rtp_*.xml, if it does
    active: bool = False
    connection: Connection = field(default_factory=Connection)

    def __post_init__(self) -> None:
        problems: dict[str, str] = {}
        for name, problem in _problems(self):
            problems.setdefault(name, problem)
        if problems:
            raise InvalidTerms(problems)

    @classmethod
    def parse(cls, stored: Mapping[str, Any]) -> RailTerms:
        """The terms that `as_json` stored. Raises InvalidTerms, also for names that it does not
        know."""
        known = {each.name for each in fields(cls)}
        if strange := sorted(set(stored) - known):
            raise InvalidTerms(dict.fromkeys(strange, "is no term"))
        if missing := sorted(_required() - set(stored)):
            raise InvalidTerms(dict.fromkeys(missing, "is missing"))
        return cls(**{name: _read(name, value) for name, value in stored.items()})

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """What stands in the JSON where nobody says otherwise."""
        known = {each.name: each.default for each in fields(cls) if each.default is not MISSING}
        stored: dict[str, Any] = _plain({**known, "connection": asdict(Connection())})
        return stored

    def as_json(self) -> dict[str, Any]:
        """What `parse` reads."""
        stored: dict[str, Any] = _plain(asdict(self))
        return stored


def _required() -> set[str]:
    return {
        each.name
        for each in fields(RailTerms)
        if each.default is MISSING and each.default_factory is MISSING
    }


def _read(name: str, value: Any) -> Any:
    try:
        return Connection.parse(value) if name == "connection" else value
    except (TypeError, ValueError, AttributeError) as error:
        raise InvalidTerms({name: "cannot be read"}) from error


def _plain(value: Any) -> Any:
    """As JSON has it."""
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, timedelta):
        return int(value.total_seconds())
    return str(value) if isinstance(value, StrEnum) else value


def _problems(terms: RailTerms) -> Iterator[tuple[str, str]]:
    yield from _parties(terms)
    for name, highest in _HIGHEST.items():
        value = getattr(terms, name)
        if type(value) is not int or not 1 <= value <= highest:
            yield name, f"is a whole number from 1 to {highest}"
    if type(terms.position_warn_below) is not int or not (
        0 <= terms.position_warn_below <= MONEY_MAX
    ):
        yield "position_warn_below", f"is a whole number from 0 to {MONEY_MAX}"
    for name in ("keeps_position", "active"):
        if type(getattr(terms, name)) is not bool:
            yield name, "is true or false"
    if terms.statements and not _FILES.fullmatch(_text(terms.statements)):
        yield "statements", "is the full path of files, as /srv/bank/rtp_*.xml"
    for problem in terms.connection.problems():
        yield "connection", problem


_HIGHEST = {"request_max": AMOUNT_MAX, "payment_max": AMOUNT_MAX, "tries_unknown": 100}


def _parties(terms: RailTerms) -> Iterator[tuple[str, str]]:
    if not _PARTICIPANT.fullmatch(_text(terms.participant)):
        yield "participant", "is a routing number, on RTP with two more characters"
    if not routing.validate(_text(terms.routing_number)):
        yield "routing_number", "is no routing number"
    if not 1 <= len(_text(terms.creditor_name)) <= _NAME_MAX:
        yield "creditor_name", f"has 1 to {_NAME_MAX} characters"
    if len(_text(terms.settlement_account)) > 64:
        yield "settlement_account", "has at most 64 characters"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
