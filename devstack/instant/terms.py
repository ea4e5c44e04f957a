"""How the stand-in behaves and who its participant is: one row of settings."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, dataclass, fields, replace
from typing import Any


class BadTerm(ValueError):
    """A setting that does not exist, or a value of the wrong type."""


@dataclass(frozen=True)
class Terms:
    routing: str = "124000313"
    """Routing number of the participant that sends us messages, in both networks."""
    participant_name: str = "STANDIN BANK NA"
    customer_name: str = "BALLAST"
    rtp_account: str = "4000223456"
    """The account of the participant's customer for RTP: requests and statements name it."""
    fednow_account: str = "4000323456"
    opening_position: int = 100_000_000
    """Cents with which the participant begins in each network."""
    days_before: int = 0
    """Cycle days before its first one of which a new operator has statements, without lines."""
    payment_timeout: float = 20.0
    """Seconds from the time of a payment until it is settled or rejected."""
    ask_after: float = 25.0
    """Seconds from the time of a payment before its sender may ask for its status (FedNow)."""
    future_max: float = 5.0
    """Seconds by which a payment may be from the future."""
    pending_seconds: float = 3.0
    """How long a receiving bank takes over a payment that it accepted without posting."""
    late_seconds: float = 40.0
    """How late the late answer of account 51006 is."""
    answers_lapse: float = 20.0
    """Seconds that a participant has to answer a payment to it."""
    statements: tuple[str, ...] = ("camt053",)
    """What is written of a cycle day that is over: camt052, camt053, camt054."""

    def account(self, profile: str) -> str:
        return self.rtp_account if profile == "rtp" else self.fednow_account


_TYPES = {field.name: type(getattr(Terms(), field.name)) for field in fields(Terms)}
_FORMATS = {"camt052", "camt053", "camt054"}


def load(db: sqlite3.Connection) -> Terms:
    row = db.execute("SELECT value FROM setting WHERE name = 'terms'").fetchone()
    return _changed(Terms(), json.loads(row[0])) if row else Terms()


def change(db: sqlite3.Connection, changes: dict[str, Any]) -> Terms:
    """Keep changed settings. Raises BadTerm."""
    terms = _changed(load(db), changes)
    db.execute("REPLACE INTO setting VALUES ('terms', ?)", (json.dumps(asdict(terms)),))
    return terms


def _changed(terms: Terms, changes: dict[str, Any]) -> Terms:
    typed = {name: _typed(name, value) for name, value in changes.items()}
    return replace(terms, **typed)


def _typed(name: str, value: Any) -> Any:
    kind = _TYPES.get(name)
    if kind is None:
        raise BadTerm(f"there is no setting {name!r}")
    if kind is tuple and isinstance(value, list):
        value = tuple(value)
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise BadTerm(f"{name} takes {kind.__name__}, not {value!r}")
    if name == "statements" and not set(value) <= _FORMATS:
        raise BadTerm(f"statements takes {', '.join(sorted(_FORMATS))}, not {value!r}")
    return value
