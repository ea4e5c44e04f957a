"""Every command of an operator that changes where money goes: the rail of a bank, its keys, its
companies and its files, and the routes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from io import StringIO
from pathlib import Path
from tempfile import gettempdir
from typing import Any
from unittest import mock

from django.core.management import CommandError, call_command, get_commands
from django.db import DatabaseError

from common.clock import utc_now
from common.errors import DomainError
from desk import roles
from desk.positions import lists
from desk.rails import acts
from desk.rails.instant import acts as instant_acts
from networks.ach import rails
from networks.ach.models import InFile
from networks.instant import certificates
from networks.rails.models import Rail, RailKind
from reconciliation.reading import read_due
from tenants.actors import SYSTEM
from tenants.services import staff
from tests.crashes import instant_rails, instants
from tests.crashes.bank_stories import a_stuck_file, ann
from tests.crashes.banks import bank_said, closable, make_bank, statement
from tests.crashes.every_call import BUSY, UNKNOWN, Story, Told
from tests.crashes.stored import Stored
from tests.crashes.world import END_LEASES, Act, World
from tests.reconciliation.statements import OPENING
from transfers.route_changes import open_route

Begin = Callable[[World], Act]
WHO = ("--operator", "Olga", "--reason", "The bank said so")


def command(name: str, *arguments: str) -> Act:
    return lambda _headers: _told(partial(call_command, name, "--json", *arguments))


def _told(run: Callable[..., object]) -> Told:
    """As a shell tells it: done, refused, or broken off."""
    try:
        run(stdout=StringIO())
    except DatabaseError:
        return Told(UNKNOWN)
    except (CommandError, DomainError):
        return Told(BUSY)
    return Told(200)


def new_rail(world: World) -> Act:
    known = make_bank()
    terms = {**rails.current(known).terms, "immediate_origin": "1234567899"}
    path = Path(gettempdir()) / f"{known}.json"
    path.write_text(json.dumps(terms), encoding="utf-8")
    return command("ach_rail", f"{known}_2", "--kind", "real", "--terms", str(path), *WHO)


def change_rail(world: World) -> Act:
    return command("ach_rail", make_bank(), "--set", "company_name=OTHER", *WHO)


def key(*options: str, known: int) -> Begin:
    """Of a rail that has so many keys."""

    def begin(world: World) -> Act:
        rail = make_bank()
        for _ in range(known):
            acts.make_key(rail=rail, reason="The first", doer=ann(), now=utc_now())
        return command("ach_key", rail, *options, *WHO)

    return begin


def instant_terms(world: World) -> Act:
    return command("instant_rail", instant_rails.in_force().pk, "--set", "active=true", *WHO)


def new_instant_rail(world: World) -> Act:
    name = f"{instant_rails.opened().pk}_2"
    return command("instant_rail", name, "--profile", "rtp", "--kind", "real", *WHO)


def instant_key(*options: str, known: int) -> Begin:
    """Of a rail that has so many keys."""

    def begin(world: World) -> Act:
        rail = instant_rails.opened().pk
        doer = instant_rails.olga()
        for _ in range(known):
            instant_acts.make_key(rail=rail, reason="The first", doer=doer, now=utc_now())
        return command("instant_key", rail, *options, *WHO)

    return begin


def instant_certificate(world: World) -> Act:
    """Of a key that was made elsewhere."""
    pair = certificates.make("elsewhere", now=utc_now())
    rail = instant_rails.opened().pk
    paths = [Path(gettempdir()) / f"{rail}.{name}.pem" for name in ("key", "crt")]
    for path, content in zip(paths, (pair.private_key, pair.certificate), strict=True):
        path.write_text(content, encoding="ascii")
    files = ("--private-key", str(paths[0]), "--certificate", str(paths[1]))
    return command("instant_key", rail, *files, *WHO)


def company(*options: str) -> Begin:
    return lambda world: command("ach_originator", make_bank(), *options, *WHO)


def stuck_file(where: str) -> Begin:
    return lambda world: command("ach_file", a_stuck_file().pk, where, *WHO)


def route(*options: str) -> Begin:
    """The route of live tenants, which leads to one bank."""

    def begin(world: World) -> Act:
        first, other = make_bank(), make_bank()
        for rail in (first, other):
            Rail.objects.create(name=rail, kind=RailKind.REAL, driver="ach", created_at=utc_now())
        who: dict[str, Any] = {"reason": "x", "actor": ann().actor, "now": utc_now()}
        open_route(mode="live", method="ach_debit", rail=first, **who)
        to = options or ("--rail", other)
        where = ("--mode", "live", "--method", "ach_debit")
        return command("set_route", *where, *to, *WHO)

    return begin


def read_statement(world: World) -> Act:
    """Of an account that is in force."""
    rail = statement().rail_id
    path = Path(gettempdir()) / f"{rail}.txt"
    path.write_bytes(bank_said(OPENING + 1))
    return command("read_statement", str(path), "--rail", rail, *WHO)


def account(world: World) -> Act:
    terms = ("--format", "bai2", "--opened-on", "2026-11-16", "--opening", "0")
    number = StringIO("4000123456")
    run = command("settlement_account", make_bank(), *terms, *WHO)

    def act(headers: Any) -> Told:
        number.seek(0)
        with mock.patch.object(sys, "stdin", number):
            told: Told = run(headers)
            return told

    return act


def close_day(world: World) -> Act:
    return command("close_day", "--rail", closable(), "--operator", "Olga")


def colleague(*options: str) -> Begin:
    """Somebody who is a viewer here already, in a copy whose roles were made."""

    def begin(world: World) -> Act:
        roles.ensure()
        email = f"cal-{world.tenant.pk}@ballast.example"
        staff.grant(email=email, roles=["Viewer"], actor=SYSTEM, now=utc_now())
        return command("staff_member", email, *options, *WHO)

    return begin


def position(world: World) -> Act:
    return command("move_position", instants.new_rail(), *WHO, "--", "5000")


def participants(world: World) -> Act:
    path = Path(gettempdir()) / "participants.csv"
    path.write_text(
        "routing_number,receives_credits,receives_requests\n021000021,yes,no\n", encoding="utf-8"
    )
    for _ in range(2):  # so that one takes the place of another, which still has banks
        lists.take(
            "fednow", path.read_bytes(), reason="x", is_forced=True, doer=ann(), now=utc_now()
        )
    return command("import_participants", "fednow", str(path), *WHO)


BEGINNINGS: dict[str, Begin] = {
    "ach_rail new": new_rail,
    "ach_rail change": change_rail,
    "ach_key make": key(known=0),
    "ach_key second": key(known=1),
    "ach_key switch": key("--switch", known=2),
    "ach_key retire": key("--retire", known=2),
    "ach_key replace": key("--replace", known=2),
    "instant_rail new": new_instant_rail,
    "instant_rail change": instant_terms,
    "instant_key make": instant_key(known=0),
    "instant_key second": instant_key(known=1),
    "instant_key switch": instant_key("--switch", known=2),
    "instant_key retire": instant_key("--retire", known=2),
    "instant_key replace": instant_key("--replace", known=2),
    "instant_key take": instant_certificate,
    "ach_originator change": company("--company-name", "OTHER"),
    "ach_originator end": company("--end"),
    "ach_file at-bank": stuck_file("--at-bank"),
    "ach_file not-at-bank": stuck_file("--not-at-bank"),
    "read_statement": read_statement,
    "settlement_account": account,
    "close_day": close_day,
    "import_participants": participants,
    "move_position": position,
    "staff_member role": colleague("--role", "Accountant"),
    "staff_member end": colleague("--end"),
    "set_route lead": route(),
    "set_route close": route("--close"),
}
# They change no row, or their steps are told elsewhere: `ach_compare` reads a bank's folders
# (tests/networks/ach/test_restoring.py), `staff_roles` says what staff may do.
EXEMPT = {"ach_compare", "staff_roles"}


def read_on(stored: Stored) -> None:
    """Let workers read the statements that wait to be tried again."""
    stored.execute(END_LEASES)
    InFile.objects.exclude(next_attempt_at=None).update(next_attempt_at=utc_now())
    read_due(now=utc_now())


# A statement is stored first. The command says that it waits where reading it fails: workers go on.
STORIES = [
    Story(f"command {name}", begin, in_steps=True, finish=read_on)
    if name == "read_statement"
    else Story(f"command {name}", begin)
    for name, begin in BEGINNINGS.items()
]


def commands() -> set[str]:
    """Those of the desk."""
    return {name for name, app in get_commands().items() if app == "desk"}
