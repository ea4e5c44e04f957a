"""A worker of one task, as a process of its own, that dies in the middle of a batch.

`python -m tests.scenarios.dying DIRECTION MOMENT`: it kills itself at a `Moment`, as SIGKILL from
outside would; or it goes on until somebody kills it (`goes_on`).
"""

from __future__ import annotations

import enum
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from tests.database import owner

TOGETHER_FEW = 20
CALL_SECONDS = 0.02


class Moment(enum.Enum):
    """When it dies."""

    CALLING = "calling"  # the rows are claimed, and nobody was called
    CALLED = "called"  # the network has them, and nobody heard what it said
    RECORDING = "recording"  # what it said is written down, and not committed
    GOES_ON = "goes_on"


def start(direction: str, moment: Moment) -> subprocess.Popen[bytes]:
    """A worker on the test database."""
    command = [sys.executable, "-m", "tests.scenarios.dying", direction, moment.value]
    return subprocess.Popen(command, env=os.environ | {"DATABASE_URL": owner.address()})


def main(direction: str, moment: Moment) -> None:
    """Work as the worker's task does, at the tests' time until it dies, or by the real one."""
    import django

    django.setup()
    from common.clock import utc_now
    from networks import registry
    from tests.builders import NOW
    from tests.transfers.directions import DIRECTIONS
    from transfers import submission

    registry.connect(_bank(moment), modes=("sandbox",))
    transfer = _recording(DIRECTIONS[direction].transfer, moment)
    while moment is Moment.GOES_ON:
        submission.submit_due(transfer, now=utc_now())
    submission.submit_due(transfer, now=NOW)


def _bank(moment: Moment) -> Any:
    from networks.sandbox.bank import SandboxBank

    class Bank(SandboxBank):
        def submit_many(self, instructions: Sequence[Any], *, now: datetime) -> Any:
            _die_if(moment is Moment.CALLING)
            answers = super().submit_many(instructions, now=now)
            _die_if(moment is Moment.CALLED)
            if moment is Moment.GOES_ON:
                time.sleep(CALL_SECONDS)
            return answers

    bank = Bank()
    if moment is Moment.GOES_ON:
        bank.capabilities = replace(bank.capabilities, together=TOGETHER_FEW)
    return bank


def _recording(transfer: Any, moment: Moment) -> Any:
    kind: Any = type(transfer)

    class Recording(kind):  # type: ignore[misc]  # of either direction
        def accepted_together(self, answers: Iterable[Any], now: datetime) -> None:
            super().accepted_together(answers, now)
            _die_if(moment is Moment.RECORDING)

    return Recording()


def _die_if(it_is_time: bool) -> None:
    if it_is_time:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1], Moment(sys.argv[2]))
