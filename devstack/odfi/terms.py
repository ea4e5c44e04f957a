"""What the bank and its customer agreed on, and how the stand-in behaves: one row of settings."""

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
    """Routing number of the bank, check digit included."""
    bank_name: str = "STANDIN BANK NA"
    customer_id: str = "1987654321"
    """The immediate origin of the customer's files; the destination of ours."""
    customer_name: str = "BALLAST"
    company_ids: tuple[str, ...] = ()
    """Company identifications that may originate; none given: any."""
    settlement_account: str = "4000123456"
    opening_balance: int = 100_000_000
    same_day_limit: int = 100_000_000
    file_bytes_max: int = 200 * 1024 * 1024
    day_seconds: float = 0.0
    """How many seconds a banking day takes while work waits; 0: it takes a day."""
    late_return_days: int = 0
    """Banking days from settlement to a late return; 0: 60 calendar days, as a consumer has."""
    ack_delay: float = 0.0
    """Seconds on the bank's clock from a file to its acknowledgement."""
    ack_every_entry: bool = False
    """Acknowledge each entry; otherwise only those that are not plainly accepted."""
    archives: bool = False
    """Move taken files to outbound/archive; otherwise they stay where they were put."""
    quotes: str = "batch"
    """What statements name of the customer's files: the `batch`, the `file`, or `nothing`."""
    totals: str = "batch"
    """Of what statements show one sum: a `batch`, or what settles of a `file` at one time."""
    gross: bool = False
    """Show debits and credits apart; otherwise what is left of both."""

    @property
    def odfi(self) -> str:
        """The first eight digits, as entries and batches carry them."""
        return self.routing[:8]


_CHOICES = {"quotes": ("batch", "file", "nothing"), "totals": ("batch", "file")}
_TYPES = {field.name: type(getattr(Terms(), field.name)) for field in fields(Terms)}


def load(db: sqlite3.Connection) -> Terms:
    row = db.execute("SELECT value FROM setting WHERE name = 'terms'").fetchone()
    return _changed(Terms(), json.loads(row[0])) if row else Terms()


def change(db: sqlite3.Connection, changes: dict[str, Any]) -> Terms:
    """Keep changed settings. Raises BadTerm."""
    terms = _changed(load(db), changes)
    db.execute("REPLACE INTO setting VALUES ('terms', ?)", (json.dumps(asdict(terms)),))
    return terms


def _changed(terms: Terms, changes: dict[str, Any]) -> Terms:
    typed = {}
    for name, value in changes.items():
        kind = _TYPES.get(name)
        if kind is None:
            raise BadTerm(f"there is no setting {name!r}")
        if kind is tuple and isinstance(value, list):
            value = tuple(value)
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise BadTerm(f"{name} takes {kind.__name__}, not {value!r}")
        if value not in _CHOICES.get(name, (value,)):
            raise BadTerm(f"{name} takes {', '.join(_CHOICES[name])}, not {value!r}")
        typed[name] = value
    return replace(terms, **typed)
