"""The control interface: JSON over a unix socket of the copy. A line asks, a line answers.

`{"command": "status"}` is answered by `{"ok": true, "result": ...}`, or by `{"ok": false,
"error": ...}`.
"""

from __future__ import annotations

import base64
import json
import socketserver
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from devstack.instant import (
    byhand,
    directory,
    faults,
    keys,
    outbox,
    record,
    statements,
)
from devstack.instant import (
    positions as money,
)
from devstack.instant import (
    terms as agreed,
)
from devstack.instant.clock import BadMove, target, written
from devstack.instant.https import Door
from devstack.instant.operator import Operator
from devstack.instant.profiles import EASTERN, PROFILES
from devstack.instant.reading import Account

REFUSALS = (
    BadMove,
    LookupError,
    byhand.Refused,
    faults.UnknownFault,
    agreed.BadTerm,
    TypeError,
    ValueError,
)


class Control:
    """The commands. Each is a method that works on the record; arguments come by name."""

    def __init__(self, operator: Operator, door: Door) -> None:
        self._operator, self._door = operator, door

    def serve(self, path: Path) -> socketserver.BaseServer:
        """Listen on a unix socket that only we may open."""
        path.unlink(missing_ok=True)
        control = self

        class Line(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                for line in self.rfile:
                    self.wfile.write(json.dumps(control.answer(line)).encode() + b"\n")

        server = _Server(str(path), Line)
        path.chmod(0o600)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return server

    def answer(self, line: bytes) -> dict[str, Any]:
        """Do what one line asks for."""
        try:
            arguments = dict(json.loads(line))
            command = self._COMMANDS.get(arguments.pop("command", ""))
            if command is None:
                raise byhand.Refused(f"there are: {', '.join(sorted(self._COMMANDS))}")
            result = command(self, **arguments)
        except REFUSALS as problem:
            return {"ok": False, "error": str(problem)}
        self._door.adjust()
        return {"ok": True, "result": result}

    def status(self) -> dict[str, Any]:
        """The clock, what is due next, payments and requests by state, switches."""
        with self._operator.looking() as db:
            now, due = self._operator.clock.now(), self._operator.next_due()
            return {
                "now": written(now),
                "eastern": now.astimezone(EASTERN).isoformat(timespec="seconds"),
                "cycle_days": {
                    each.name: each.cycle_day(now).isoformat() for each in PROFILES.values()
                },
                "next_due": due and written(due),
                "port": self._door.port,
                "faults": faults.active(db),
                **record.totals(db),
            }

    def clock(self, *, to: str = "", seconds: float = 0, next: bool = False) -> dict[str, Any]:
        """Move the clock: to an instant, by seconds, or to what is due next."""
        operator = self._operator
        with operator.looking():
            moment = target(operator.clock.now(), to=to, seconds=seconds)
            due = operator.next_due()
            if next and due is not None:
                moment = max(moment, due)
            count = operator.move_clock(moment)
            return {"now": written(operator.clock.now()), "happened": count}

    def terms(self, **changes: Any) -> dict[str, Any]:
        """How the stand-in behaves; with arguments, change it."""
        with self._operator.working():
            if changes:
                agreed.change(self._operator.db, changes)
            return asdict(agreed.load(self._operator.db))

    def fault(self, *, name: str, on: bool = True, times: int | None = None, value: int = 0) -> Any:
        """Turn a failure on or off; `all` turns everything off."""
        db = self._operator.db
        with self._operator.working():
            if on:
                faults.turn_on(db, name, times=times, value=value)
            else:
                faults.turn_off(db, name)
            return faults.active(db)

    def participants(
        self,
        *,
        profile: str = "",
        routing: str = "",
        name: str = "A BANK",
        receives_credits: bool = True,
        receives_requests: bool = True,
        leaves: bool = False,
    ) -> list[dict[str, Any]]:
        """The directory; with a network and a routing number, let a bank take part, change it, or
        let it leave."""
        db = self._operator.db
        with self._operator.working():
            if routing and leaves:
                directory.remove(db, byhand.profile_of(profile).name, routing)
            elif routing:
                directory.add(
                    db,
                    byhand.profile_of(profile).name,
                    routing,
                    name,
                    receives_credits=receives_credits,
                    receives_requests=receives_requests,
                )
            directory.publish(db, self._operator.home)
            return [asdict(each) for each in directory.all_of(db)]

    def positions(self) -> dict[str, dict[str, int]]:
        """Cents of each participant."""
        with self._operator.looking() as db:
            return record.positions(db)

    def fund(self, *, profile: str, amount: int, routing: str = "", reference: str = "") -> int:
        """Bring money of a participant into a network, or take it out (negative cents); gives its
        position. The statement names the reference; one that is known moves nothing again."""
        chosen = byhand.profile_of(profile)
        with self._operator.working():
            desk = self._operator.desk(chosen)
            bank = routing or desk.terms.routing
            byhand.require_participant(desk, bank)
            money.adjust(desk.db, chosen, bank, amount, desk.now, reference=reference)
            return money.of(desk.db, profile, bank)

    def answer_request(
        self,
        *,
        request: int = 0,
        end_to_end_id: str = "",
        approve: bool = True,
        amount: int | None = None,
        code: str = "",
    ) -> None:
        """The payer approves a request for payment, or refuses it."""
        with self._operator.working():
            db = self._operator.db
            row = byhand.one_request(db, request=request, end_to_end_id=end_to_end_id)
            desk = self._operator.desk(PROFILES[row["profile"]])
            byhand.answer(desk, row, approve=approve, amount=amount, code=code)

    def pay(
        self,
        *,
        profile: str,
        amount: int,
        end_to_end_id: str = "",
        account: str = "",
        payer_routing: str = byhand.PAYER.routing,
        payer_account: str = byhand.PAYER.number,
        payer_name: str = byhand.PAYER.name,
        remittance: str = "",
    ) -> int:
        """Send a payment to the participant that nobody asked for; gives its number."""
        payer = Account(payer_routing, payer_account, payer_name)
        with self._operator.working():
            desk = self._operator.desk(byhand.profile_of(profile))
            return byhand.pay(
                desk,
                amount=amount,
                end_to_end_id=end_to_end_id,
                account=account,
                payer=payer,
                remittance=remittance,
            )

    def give_back(
        self,
        *,
        payment: int = 0,
        end_to_end_id: str = "",
        code: str = "AC04",
        amount: int | None = None,
    ) -> int:
        """The receiving bank returns a payment of the participant's; gives the new payment."""
        with self._operator.working():
            db = self._operator.db
            row = byhand.one_payment(db, payment=payment, end_to_end_id=end_to_end_id)
            desk = self._operator.desk(PROFILES[row["profile"]])
            return byhand.give_back(desk, row, code=code, amount=amount)

    def ask_back(self, *, payment: int = 0, end_to_end_id: str = "", code: str = "CUST") -> int:
        """A payer's bank asks the participant to return a payment; gives the request's number."""
        with self._operator.working():
            db = self._operator.db
            row = byhand.one_payment(db, payment=payment, end_to_end_id=end_to_end_id)
            return byhand.ask_back(self._operator.desk(PROFILES[row["profile"]]), row, code=code)

    def report(self, *, profile: str) -> str:
        """What moved on the present cycle day up to now (camt.052)."""
        with self._operator.looking():
            return statements.so_far(self._operator.desk(byhand.profile_of(profile))).decode()

    def put(self, *, profile: str, content: str, kind: str = "", message_id: str = "") -> int:
        """Hand any bytes (base64) to the participant as a message; gives its number."""
        chosen = byhand.profile_of(profile)
        with self._operator.working():
            return outbox.put(
                self._operator.db,
                chosen,
                kind,
                message_id,
                base64.b64decode(content),
                about=None,
                now=self._operator.clock.now(),
            )

    def again(self, *, message: int) -> None:
        """Hand a message to the participant once more."""
        with self._operator.working():
            outbox.again(self._operator.db, message, now=self._operator.clock.now())

    def authorize(self, *, certificate: str) -> str:
        """Know the participant by a certificate of its own (PEM) as well; gives its fingerprint."""
        return keys.authorize(self._operator.home / "keys", certificate)

    def rotate(self) -> str:
        """Show the other one of the two pinned keys from now on; gives its pin."""
        with self._operator.working():
            row = self._operator.db.execute(
                "SELECT value FROM setting WHERE name = 'server_key'"
            ).fetchone()
            is_next = row is None or row[0] == keys.SERVER
            name = keys.NEXT_SERVER if is_next else keys.SERVER
            self._operator.db.execute("REPLACE INTO setting VALUES ('server_key', ?)", (name,))
        return keys.pin(self._operator.home / "keys", name)

    def payments(self, **wanted: Any) -> list[dict[str, Any]]:
        """Payments in both directions: `profile=`, `end_to_end_id=`, `after=`, `limit=`."""
        with self._operator.looking() as db:
            return record.payments(db, **wanted)

    def requests(self, **wanted: Any) -> list[dict[str, Any]]:
        """Requests for payment: `account=`, `end_to_end_id=`, `after=`."""
        with self._operator.looking() as db:
            return record.requests(db, **wanted)

    def return_requests(self) -> list[dict[str, Any]]:
        with self._operator.looking() as db:
            return record.return_requests(db)

    def messages(self, **wanted: Any) -> list[dict[str, Any]]:
        """Messages in both directions: `profile=`, `after=`, `limit=`."""
        with self._operator.looking() as db:
            return record.messages(db, **wanted)

    _COMMANDS: dict[str, Callable[..., Any]] = {  # noqa: RUF012
        each.__name__: each
        for each in (
            status,
            clock,
            terms,
            fault,
            participants,
            positions,
            fund,
            answer_request,
            pay,
            give_back,
            ask_back,
            report,
            put,
            again,
            authorize,
            rotate,
            payments,
            requests,
            return_requests,
            messages,
        )
    }


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    block_on_close = False
