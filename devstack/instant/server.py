"""Runs the operator until somebody stops it."""

from __future__ import annotations

import json
import signal
import sys
import threading
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Any

from devstack.instant import client, directory, files, keys, store, terms
from devstack.instant.control import Control
from devstack.instant.https import Door
from devstack.instant.operator import Operator
from devstack.instant.page_server import PayersBank
from devstack.instant.profiles import PROFILES


def serve(
    home: Path,
    *,
    port: int = 0,
    control: Path | None = None,
    clock: datetime | None = None,
    statements: Path | None = None,
    first_terms: dict[str, Any] | None = None,
) -> None:
    """Open the doors, work, and close them at SIGTERM or SIGINT."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    (home / client.CONNECTION).unlink(missing_ok=True)  # it is there while messages are taken
    keys.ensure(home / "keys")
    operator = Operator(home, clock=clock, statements_folder=statements)
    _agree(operator, first_terms or {})
    operator.open_books()
    door = Door(operator)
    door.start(port or _kept(operator, "port"))
    _keep(operator, "port", door.port)
    payers_bank = PayersBank(operator, port=_kept(operator, "page_port"))
    payers_bank.start()
    _keep(operator, "page_port", payers_bank.port)
    socket = control or home / client.SOCKET
    socket.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    commands = Control(operator, door).serve(socket)
    door.adjust()
    page = f"http://{keys.HOST}:{payers_bank.port}/"
    _write_connection(operator, door.port, socket, page=page)
    sys.stdout.write(f"the operator takes messages at https://{keys.HOST}:{door.port}\n")
    sys.stdout.write(f"the payer's bank shows its pages at {page}\n")
    sys.stdout.flush()
    work = threading.Thread(target=operator.run, daemon=True)
    work.start()
    _until_stopped(operator, work)
    commands.shutdown()
    payers_bank.shutdown()
    door.stop()


def _until_stopped(operator: Operator, work: threading.Thread) -> None:
    """Wait for a signal, or for a fault of our own, whose traceback its thread has written."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        threading.Thread(target=operator.stop, daemon=True).start()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    work.join()


def _agree(operator: Operator, first_terms: dict[str, Any]) -> None:
    """Terms given at the start hold for an operator that has none yet."""
    known = operator.db.execute("SELECT 1 FROM setting WHERE name = 'terms'").fetchone()
    if known is None:
        with store.transaction(operator.db):
            terms.change(operator.db, first_terms)


def _kept(operator: Operator, name: str) -> int:
    row = operator.db.execute("SELECT value FROM setting WHERE name = ?", (name,)).fetchone()
    return int(row[0]) if row else 0


def _keep(operator: Operator, name: str, value: int) -> None:
    operator.db.execute("REPLACE INTO setting VALUES (?, ?)", (name, str(value)))


def _write_connection(operator: Operator, port: int, control: Path, *, page: str) -> None:
    folder = operator.home / "keys"
    agreed = terms.load(operator.db)
    found = {
        "networks": {
            each.name: {
                "base_url": f"https://{keys.HOST}:{port}/{each.name}",
                "routing": agreed.routing,
                "participant_id": each.participant_id(agreed.routing),
                "operator_id": each.operator_id,
                "account": agreed.account(each.name),
            }
            for each in PROFILES.values()
        },
        "pins": [keys.pin(folder, name) for name in (keys.SERVER, keys.NEXT_SERVER)],
        "authority": str(keys.certificate_path(folder, keys.AUTHORITY)),
        "certificate": str(keys.certificate_path(folder, keys.PARTICIPANT)),
        "private_key": str(keys.key_path(folder, keys.PARTICIPANT)),
        "participants": str(operator.home / directory.FILE),
        "statements": str(operator.statements),
        "page": page,
        "control": str(control),
    }
    files.write_whole(operator.home / client.CONNECTION, json.dumps(found, indent=2).encode())
