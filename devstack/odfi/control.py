"""The control interface: JSON over a unix socket of the copy. A line asks, a line answers.

`{"command": "status"}` is answered by `{"ok": true, "result": ...}`, or by `{"ok": false,
"error": ...}`.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import asyncssh

from devstack.odfi import (
    acks,
    books,
    byhand,
    calendar,
    days,
    faults,
    keys,
    sending,
    statements,
    store,
    terms,
)
from devstack.odfi.bank import Bank
from devstack.odfi.clock import BadMove, target, written
from devstack.odfi.sftp import Listener

LINE_MAX = 300 * 1024 * 1024
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,150}")
REFUSALS = (
    BadMove,
    asyncssh.KeyImportError,
    byhand.Refused,
    faults.UnknownFault,
    terms.BadTerm,
    TypeError,
    ValueError,
)


class Control:
    """The commands. Each is a method that works on the record; arguments come by name."""

    def __init__(self, bank: Bank, listener: Listener) -> None:
        self._bank, self._listener = bank, listener
        self._db = bank.db

    async def serve(self, path: Path) -> asyncio.AbstractServer:
        path.unlink(missing_ok=True)
        server = await asyncio.start_unix_server(self._talk, path, limit=LINE_MAX)
        path.chmod(0o600)
        return server

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            answer = await self.answer(line)
            writer.write(json.dumps(answer).encode() + b"\n")
            await writer.drain()
        writer.close()

    async def answer(self, line: bytes) -> dict[str, Any]:
        """Do what one line asks for."""
        try:
            arguments = dict(json.loads(line))
            command = self._COMMANDS.get(arguments.pop("command", ""))
            if command is None:
                raise byhand.Refused(f"there are: {', '.join(sorted(self._COMMANDS))}")
            result = await self._bank.exclusively(lambda: command(self, **arguments))
        except REFUSALS as problem:
            return {"ok": False, "error": str(problem)}
        await self._listener.adjust()
        self._bank.is_changed.set()
        return {"ok": True, "result": result}

    def status(self) -> dict[str, Any]:
        """The clock, what waits, the account, the switches."""
        now, due = self._bank.clock.now(), days.next_due(self._db)
        return {
            "now": written(now),
            "eastern": calendar.local(now).isoformat(timespec="seconds"),
            "next_due": due and written(due),
            "has_work": days.has_work(self._db),
            "port": self._listener.port,
            "faults": faults.active(self._db),
            **books.totals(self._db),
        }

    def account(self) -> dict[str, Any]:
        """The customer's account as its next statement begins: the day, and cents."""
        agreed = terms.load(self._db)
        return {
            "number": agreed.settlement_account,
            "day": days.next_statement(self._db).isoformat(),
            "opening": statements.opening_of_next(self._db),
        }

    def clock(
        self, *, to: str = "", seconds: float = 0, banking_days: int = 0, next: bool = False
    ) -> dict[str, Any]:
        """Move the clock: to an instant, by seconds, by banking days, or to what is due next."""
        moment = target(self._bank.clock.now(), to=to, seconds=seconds, banking_days=banking_days)
        due = days.next_due(self._db)
        if next and due is not None:
            moment = max(moment, due)
        count = self._bank.move_clock(moment)
        return {"now": written(self._bank.clock.now()), "instants": count}

    def terms(self, **changes: Any) -> dict[str, Any]:
        """What was agreed; with arguments, change it."""
        if changes:
            with store.transaction(self._db):
                terms.change(self._db, changes)
        return asdict(terms.load(self._db))

    def fault(self, *, name: str, on: bool = True, times: int | None = None, value: int = 0) -> Any:
        """Turn a failure on or off; `all` turns everything off."""
        if on:
            faults.turn_on(self._db, name, times=times, value=value)
        else:
            faults.turn_off(self._db, name)
            if name in {"half_file", "all"}:
                sending.complete_halves(self._db, self._bank.root)
        return faults.active(self._db)

    def scan(self) -> int:
        """Look for delivered files now; gives how many there were."""
        count = self._bank.take_files()
        self._bank.work()
        return count

    def book(self, **wanted: Any) -> dict[str, Any]:
        """Entries and what was answered: by file, by trace, after an id."""
        return books.book(self._db, **wanted)

    def totals(self) -> dict[str, Any]:
        return books.totals(self._db)

    def files(self) -> list[dict[str, Any]]:
        return books.files(self._db)

    def postings(self, **wanted: Any) -> list[dict[str, Any]]:
        return books.postings(self._db, **wanted)

    def received(self) -> list[dict[str, Any]]:
        return books.received(self._db)

    def send_back(self, *, trace: str, code: str) -> int:
        """Return an entry now, with any code."""
        return self._by_hand(byhand.send_back, trace, code)

    def change(self, *, trace: str, code: str, corrected: str = "") -> int:
        """Send a notification of change now."""
        return self._by_hand(byhand.ask_for_change, trace, code, corrected)

    def credit(self, *, amount: int, **about: str) -> int:
        """Send money that nobody asked for."""
        return self._by_hand(byhand.send_credit, amount, **about)

    def charge(self, *, amount: int, text: str = "SERVICE FEE") -> None:
        """Charge a fee of the bank."""
        with store.transaction(self._db):
            byhand.charge(self._db, amount, now=self._bank.clock.now(), text=text)

    def put(self, *, name: str, content: str, folder: str = "inbound") -> int:
        """Put any bytes (base64) into a folder under a name."""
        if folder not in sending.FOLDERS or not NAME.fullmatch(name):
            raise byhand.Refused(f"no file {name!r} can be put into {folder!r}")
        data = base64.b64decode(content, validate=True)
        number = sending.keep(self._db, folder, name, data, now=self._bank.clock.now())
        sending.publish(self._db, self._bank.root)
        return number

    def again(self, *, name: str) -> int:
        """Put a file of ours into its folder once more."""
        count = sending.again(self._db, name)
        sending.publish(self._db, self._bank.root)
        return count

    def acknowledge(self, *, file: int) -> None:
        """Acknowledge a file, perhaps once more."""
        with store.transaction(self._db):
            acks.write(self._db, file, now=self._bank.clock.now())
        sending.publish(self._db, self._bank.root)

    def authorize(self, *, key: str) -> None:
        """Let another public key sign in."""
        keys.authorize(self._bank.home / "keys", key)

    def _by_hand(self, act: Callable[..., int], *arguments: Any, **named: Any) -> int:
        with store.transaction(self._db):
            number = act(self._db, *arguments, now=self._bank.clock.now(), **named)
        self._bank.work()
        return number

    _COMMANDS: dict[str, Callable[..., Any]] = {  # noqa: RUF012
        each.__name__: each
        for each in (
            account,
            status,
            clock,
            terms,
            fault,
            scan,
            book,
            totals,
            files,
            postings,
            received,
            send_back,
            change,
            credit,
            charge,
            put,
            again,
            acknowledge,
            authorize,
        )
    }
