"""A rail whose bank is the stand-in, a process of its own, and days at both ends of the line."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import date, datetime, time
from typing import Any

import time_machine

from common import database_clock
from desk import doers
from desk.rails import acts
from devstack.odfi import client
from networks.ach.connection_terms import Connection
from networks.ach.models import AchKey
from networks.ach.terms import Cutoff
from networks.calendar import EASTERN
from tenants import actors
from tests.devstack.odfi.conftest import Bank
from tests.networks.ach.builders import AGREED, RAIL, make_originator, make_rail

# What the stand-in expects of its customer (docs/stand-in-bank.md).
TERMS: dict[str, Any] = {
    "odfi_routing": "124000313",
    "immediate_destination": " 124000313",
    "immediate_destination_name": "STANDIN BANK NA",
    "immediate_origin": "1987654321",
    "company_id": "1987654321",
    "cutoffs": (
        Cutoff(at=time(10, 0), same_day=True),
        Cutoff(at=time(14, 15), same_day=True),
        Cutoff(at=time(19, 30)),
    ),
}
OPENING_BALANCE = 100_000_000  # cents
MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY = (date(2035, 12, day) for day in range(3, 8))


def eastern(day: date, at: str) -> datetime:
    return datetime.combine(day, time.fromisoformat(at), EASTERN)


def line_to(bank: Bank, **changes: Any) -> Connection:
    """How the bank is reached."""
    known = client.connection(bank.home)
    said = {
        "host": known["host"],
        "port": known["port"],
        "user": known["username"],
        "host_keys": (known["host_key"],),
    }
    return Connection(**{**said, **changes})


def connect_rail(bank: Bank, **terms: Any) -> AchKey:
    """Terms that lead to the bank, and a key of ours that it has entered."""
    make_rail(**{**TERMS, "connection": line_to(bank), **terms})
    make_originator(company_id="1987654321")
    ada = doers.person(actors.staff("ada@ballast.example"))
    key = acts.make_key(rail=RAIL, reason="The first one", doer=ada, now=AGREED)
    bank.ask("authorize", key=key.public_key)
    return key


def at(bank: Bank, day: date, hour: str, *sweeps: Callable[[], object]) -> datetime:
    """Move the bank's clock and ours to an Eastern time, and run these sweeps."""
    moment = eastern(day, hour)
    bank.ask("clock", to=moment.isoformat())
    run(moment, *sweeps)
    return moment


def run(moment: datetime, *sweeps: Callable[[], object]) -> None:
    with time_machine.travel(moment, tick=False), database_clock.at(moment):
        for sweep in sweeps:
            sweep()


def recorded(bank: Bank, query: str, *values: object) -> list[tuple[Any, ...]]:
    """What the bank's own record says, read from its file."""
    path = bank.home / "bank.sqlite3"
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return db.execute(query, values).fetchall()
