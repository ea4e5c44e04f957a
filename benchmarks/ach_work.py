"""What a worker does with the entries of a rail, in a process of its own, so that its memory can be
read.

`python -m benchmarks.ach_work take|make|read RAIL MOMENT [FIRST COUNT]` prints the seconds and CPU
seconds of each step, and the memory of the process before and at most.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import django

from benchmarks.ach_codec import peak_mib


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from django.db import connection

    what, rail, moment = sys.argv[1], sys.argv[2], datetime.fromisoformat(sys.argv[3])
    connection.ensure_connection()
    before = peak_mib()
    found: dict[str, Any] = {}
    for name, step in _STEPS[what](rail, moment).items():
        began, cpu = time.monotonic(), time.process_time()
        found[name] = {"done": step()}
        found[name]["seconds"] = time.monotonic() - began
        found[name]["cpu_seconds"] = time.process_time() - cpu
    sys.stdout.write(json.dumps({**found, "before_mib": before, "peak_mib": peak_mib()}) + "\n")


Steps = Mapping[str, Callable[[], int]]


def _take(_rail: str, moment: datetime) -> Steps:
    """Instructions are handed over, numbered from FIRST on."""
    from benchmarks import ach_files

    first, count = int(sys.argv[4]), int(sys.argv[5])
    return {"take": lambda: ach_files.take(first, count, moment)}


def _make(rail: str, moment: datetime) -> Steps:
    """From waiting entries to files that are released."""
    from networks.ach import building, freezing

    def build() -> int:
        count = 0
        while building.build_next(rail, now=moment):
            count += 1
        return count

    return {"freeze": lambda: len(freezing.freeze_due(rail, now=moment)), "build": build}


def _read(_rail: str, moment: datetime) -> Steps:
    """What is stored of the bank is read and applied, as often as a task has time for it."""
    from networks.ach.inbound import reading

    def read() -> int:
        count = 0
        while done := reading.read_due(now=moment):
            count += done
        return count

    return {"read": read}


_STEPS: Mapping[str, Callable[[str, datetime], Steps]] = {
    "take": _take,
    "make": _make,
    "read": _read,
}


if __name__ == "__main__":
    main()
