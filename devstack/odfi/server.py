"""Runs the bank until somebody stops it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from devstack.odfi import client, keys, store, terms
from devstack.odfi.bank import Bank
from devstack.odfi.control import Control
from devstack.odfi.sftp import HOST, USERNAME, Listener


async def serve(
    home: Path,
    *,
    port: int = 0,
    control: Path | None = None,
    clock: datetime | None = None,
    first_terms: dict[str, Any] | None = None,
) -> None:
    """Open the doors, work, and close them at SIGTERM or SIGINT."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    (home / client.CONNECTION).unlink(missing_ok=True)  # it is there while the bank takes files
    keys.ensure(home / "keys")
    bank = Bank(home, clock=clock)
    _agree(bank, first_terms or {})
    listener = Listener(bank)
    await listener.start(port or _kept_port(bank))
    _keep_port(bank, listener.port)
    await listener.adjust()
    socket = control or home / client.SOCKET
    socket.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    commands = await Control(bank, listener).serve(socket)
    bank.tell_time()
    _write_connection(bank, listener.port, socket)
    sys.stdout.write(f"the bank takes files by SFTP at {HOST}:{listener.port}\n")
    sys.stdout.flush()
    work = asyncio.create_task(bank.run())
    await _until_stopped(work)
    commands.close()
    listener.stop()
    work.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await work
    bank.db.close()


async def _until_stopped(work: asyncio.Task[None]) -> None:
    """Wait for a signal; a fault of the bank itself ends it with its traceback."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    waiting = asyncio.create_task(stopped.wait())
    await asyncio.wait({waiting, work}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if work.done():
        work.result()


def _agree(bank: Bank, first_terms: dict[str, Any]) -> None:
    """Terms given at the start hold for a bank that has none yet."""
    known = bank.db.execute("SELECT 1 FROM setting WHERE name = 'terms'").fetchone()
    if known is None:
        with store.transaction(bank.db):
            terms.change(bank.db, first_terms)


def _kept_port(bank: Bank) -> int:
    row = bank.db.execute("SELECT value FROM setting WHERE name = 'port'").fetchone()
    return int(row[0]) if row else 0


def _keep_port(bank: Bank, port: int) -> None:
    bank.db.execute("REPLACE INTO setting VALUES ('port', ?)", (str(port),))


def _write_connection(bank: Bank, port: int, control: Path) -> None:
    folder = bank.home / "keys"
    agreed = terms.load(bank.db)
    found = {
        "host": HOST,
        "port": port,
        "username": USERNAME,
        "host_key": keys.public_key(folder, keys.HOST),
        "private_key": str(folder / keys.CUSTOMER),
        "control": str(control),
        "routing": agreed.routing,
        "customer_id": agreed.customer_id,
        "settlement_account": agreed.settlement_account,
    }
    path = bank.home / client.CONNECTION
    unfinished = path.with_suffix(".unfinished")
    unfinished.touch(mode=0o600)
    unfinished.write_text(json.dumps(found, indent=2))
    unfinished.replace(path)
