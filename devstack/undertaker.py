"""Ends what a killed `./run` leaves behind. Run as a file, never imported.

The death signal of `child.py` reaches our children, not theirs. This process reads the number of
each process group we start; when we die, whatever way, its input ends, and any group that has not
followed the death signals in time is killed.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time

GRACE_SECONDS = 20
POLL_SECONDS = 0.1
SIGKILL = 9


def bury(groups: set[int]) -> None:
    """Give each group's leader time to end what it started, then kill the rest of its group."""
    deadline = time.monotonic() + GRACE_SECONDS
    while groups:
        for group in list(groups):
            if not exists(group) or time.monotonic() > deadline:
                kill_group(group)
                groups.remove(group)
        time.sleep(POLL_SECONDS)


def exists(process: int) -> bool:
    """Whether the process exists; another account's is not the one we started."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, SIGKILL)


if __name__ == "__main__":
    bury({int(line) for line in sys.stdin})
