"""A worker, and the staff who release files, as a process that dies at one of its steps.

Every packet to or from the bank is two steps, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from asyncssh.sftp import SFTPClientHandler

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
from tests.networks.ach import life
from tests.networks.ach.builders import RAIL
from tests.scenarios import mortal
from tests.scenarios.mortal import NEVER, Death, Ended, Point
from transfers import submission
from transfers.inbox import messages


@dataclass(frozen=True)
class Mortal:
    """What a worker needs to know of the bank."""

    home: Path

    def run(self, *, now: datetime, dies_at: Point = NEVER) -> Ended:
        """All sweeps once, in a process of its own."""
        return mortal.run(lambda death: self._live(death, now), dies_at=dies_at)

    def _live(self, death: Death, now: datetime) -> None:
        registry.connect(AchNetwork(RAIL), modes=["sandbox"])
        with _counted_packets(death):
            for work, do in self._works(now).items():
                death.begin(work)
                do()

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
