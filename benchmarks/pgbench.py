"""PostgreSQL's own load generator: the ceiling for what any client of the same SQL can reach."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from django.db import connection

from benchmarks.errors import CannotMeasure
from config.env import env

_RATE = re.compile(r"^tps = ([0-9.]+) \(without initial connection time\)", re.MULTILINE)
_FAILED = re.compile(r"number of failed transactions: ([0-9]+)")


def rate(
    script: str, *, clients: int, seconds: int, variables: Mapping[str, int], settings: str = ""
) -> float:
    """Transactions per second of `script`, server-side prepared. Raises CannotMeasure.

    `settings` are the session's, as in PGOPTIONS.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(script)
        file.flush()
        command = [
            *(_program(), "--no-vacuum", "--protocol=prepared", f"--file={file.name}"),
            *(f"--client={clients}", f"--jobs={min(clients, 2)}", f"--time={seconds}"),
            *(f"--define={name}={value}" for name, value in variables.items()),
        ]
        done = subprocess.run(  # noqa: S603  # our own command, no shell
            command,
            env=os.environ | address() | {"PGOPTIONS": settings},
            capture_output=True,
            text=True,
            check=False,
        )
    return _rate_in(done)


def _rate_in(done: subprocess.CompletedProcess[str]) -> float:
    found, failed = _RATE.search(done.stdout), _FAILED.search(done.stdout)
    if done.returncode != 0 or found is None or failed is None or failed[1] != "0":
        raise CannotMeasure(f"pgbench failed:\n{done.stdout}{done.stderr}")
    return float(found[1])


def _program() -> str:
    folder = os.environ.get("POSTGRES_TOOLS")
    if folder is None or not (program := Path(folder) / "pgbench").is_file():
        raise CannotMeasure("pgbench is missing: use `./run bench`, or set POSTGRES_TOOLS.")
    return str(program)


def address(*, superuser: bool = False) -> dict[str, str]:
    """Where Django is connected to, for libpq; as a superuser for peers with their own tables."""
    settings = connection.settings_dict
    options = settings["OPTIONS"]
    names = {
        "PGHOST": settings["HOST"] or options.get("host"),
        "PGPORT": settings["PORT"],
        "PGUSER": settings["USER"],
        "PGPASSWORD": settings["PASSWORD"],
        "PGDATABASE": settings["NAME"],
    }
    if superuser and (url := os.environ.get("BALLAST_BENCH_SUPERUSER_URL")):
        names["PGUSER"] = env.db_url_config(url)["USER"]
    return {name: str(value) for name, value in names.items() if value}
