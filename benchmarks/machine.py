"""What a figure was measured on. No names of people, hosts or folders."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

from django.db import connection

from benchmarks.errors import CannotMeasure

DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}


def description() -> str:
    """Processor, cores, memory, versions, durability: one line."""
    return (
        f"{_processor()}, {os.cpu_count()} cores shared by clients and server, "
        f"{_memory_gib()} GiB, load average {os.getloadavg()[0]:.1f}; "
        f"PostgreSQL {_setting('server_version')}, durable; "
        f"Python {platform.python_version()}, Django {version('django')}, "
        f"psycopg {version('psycopg')}"
    )


def require_durable_server() -> None:
    """Raises CannotMeasure for a server that acknowledges what it may forget."""
    for name, wanted in DURABLE.items():
        if (found := _setting(name)) != wanted:
            raise CannotMeasure(f"{name} is {found}: only a durable server counts")


def _setting(name: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting(%s)", [name])
        return str(cursor.fetchone()[0])


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _memory_gib() -> int:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
