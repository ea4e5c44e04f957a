"""A worker, and the staff who release files, as a process that dies at one of its steps.

It is a fork of the test. Every call to the database and every packet to or from the bank is two
steps: one before it, one after. SIGKILL comes at one of them.
"""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from asyncssh.sftp import SFTPClientHandler
from django.db import connection

from devstack.odfi import client
from funding.transfer import FUNDING
from networks import registry
from networks.ach import acknowledging, building, connecting, freezing, releasing, sending
from networks.ach.connecting import AtBank
from networks.ach.connection_terms import Folders
from networks.ach.inbound import fetching, reading
from networks.ach.models import OutFile
from networks.ach.network import AchNetwork
from networks.ach.sftp.bank import connected
from payments.transfer import PAYMENTS
from tests.crashes import bomb
from tests.networks.ach import life
from tests.networks.ach.builders import RAIL
from transfers import submission
from transfers.inbox import messages

# A kind of work, and the number of the step in it, from 1.
Point = tuple[str, int]
NEVER: Point = ("", 0)


class Death(bomb.Bomb):
    """Counts the steps of each kind of work, and ends the process at one of them."""

    def __init__(self, at: Point, told: int) -> None:
        super().__init__()
        self._at_point = at
        self._told = told
        self._work, self._steps = "", 0

    def begin(self, work: str) -> None:
        self._work, self._steps = work, 0

    def call(self, _connection: Any, real: Callable[[], Any]) -> Any:
        self.step()
        answer = real()
        self.step()
        return answer

    def step(self) -> None:
        self._steps += 1
        os.write(self._told, f"{self._work}\n".encode())
        if (self._work, self._steps) == self._at_point:
            os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Ended:
    """What a process did: the work of each of its steps, and whether it was killed."""

    works: list[str]
    is_killed: bool


@dataclass(frozen=True)
class Mortal:
    """What a worker needs to know of the bank."""

    home: Path

    def run(self, *, now: datetime, dies_at: Point = NEVER) -> Ended:
        """All sweeps once, in a process of its own."""
        connection.close()  # the fork makes its own
        reading_end, writing_end = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading_end)
            self._live(writing_end, now, dies_at)
        os.close(writing_end)
        with os.fdopen(reading_end) as told:
            works = told.read().split()
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            assert os.WTERMSIG(status) == signal.SIGKILL
            return Ended(works, is_killed=True)
        assert os.waitstatus_to_exitcode(status) == 0
        return Ended(works, is_killed=False)

    def _live(self, told: int, now: datetime, dies_at: Point) -> None:
        try:
            death = Death(dies_at, told)
            registry.connect(AchNetwork(RAIL), modes=["sandbox"])
            with bomb.planted(death), _counted_packets(death):
                for work, do in self._works(now).items():
                    death.begin(work)
                    do()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)

    def _works(self, now: datetime) -> Mapping[str, Callable[[], Any]]:
        """Each kind of work, in the order of a day."""
        return {
            "submit": lambda: _submit(now),
            "freeze": lambda: freezing.freeze_due(RAIL, now=now),
            "build": lambda: _all(lambda: building.build_next(RAIL, now=now)),
            "release": lambda: _release(now),
            "send": lambda: self._send(now),
            "fetch": lambda: self._fetch(now),
            "read": lambda: reading.read_due(now=now),
            "finish": lambda: acknowledging.finish_final(now=now),
            "apply": lambda: _apply(now),
        }

    def _send(self, now: datetime) -> None:
        _all(lambda: sending.send_next(RAIL, AtBank(RAIL), now=now))

    def _fetch(self, now: datetime) -> None:
        client.call(self.home, "scan")
        with connected(connecting.settings(RAIL)) as line:
            fetching.fetch(line, rail_id=RAIL, folders=Folders(), now=now)


def _submit(now: datetime) -> None:
    submission.submit_due(FUNDING, now=now)
    submission.submit_due(PAYMENTS, now=now)


def _apply(now: datetime) -> None:
    messages.process(FUNDING, now=now)
    messages.process(PAYMENTS, now=now)


def _all(do: Callable[[], Any]) -> None:
    while do():
        pass


def _release(now: datetime) -> None:
    releasing.give_up_missed(RAIL, now=now)
    for file in OutFile.objects.filter(status="built"):
        life.release(file, now)


@contextmanager
def _counted_packets(death: Death) -> Iterator[None]:
    """Until the process ends."""
    send, take = SFTPClientHandler.send_packet, SFTPClientHandler._process_packet

    def counted_send(handler: Any, *given: Any) -> None:
        death.step()
        send(handler, *given)
        death.step()

    async def counted_take(handler: Any, *given: Any) -> None:
        death.step()
        await take(handler, *given)
        death.step()

    watched = {"send_packet": counted_send, "_process_packet": counted_take}
    for name, counted in watched.items():
        setattr(SFTPClientHandler, name, counted)
    yield
