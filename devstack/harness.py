"""`./run manage`, `demo`, `pictures`, `bench` and such: a command with what it needs around it."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import IO

from devstack import (
    chromium,
    console,
    copies,
    environment,
    foreground,
    paths,
    postgres,
    preparation,
    slots,
)
from devstack.copies import Copy, Recipe
from devstack.errors import DevstackError
from devstack.paths import CLIENT, ROOT
from devstack.processes import log_tail
from devstack.programs import manage as manage_command
from devstack.servers import Pair, borrowed_or_owned, owner_note
from devstack.signals import stop_once

LOG_TAIL_LINES = 30


def manage(arguments: Sequence[str]) -> int:
    """Run one management command on the chosen profile, sharing a running copy's servers."""
    profile = paths.profile()
    with stop_once(), borrowed_or_owned(profile, purpose="`./run manage`"):
        note = owner_note(profile)
        variables = environment.development(profile, base_url=note.address if note else None)
        return foreground.run(manage_command(*arguments), environment=variables, folder=ROOT)


def demo(arguments: Sequence[str]) -> int:
    """Tell the demo's story against a new copy."""
    command = [sys.executable, "-m", "demo.story", *arguments]
    return against_a_new_copy("demo", command, copies.PRODUCT_WITHOUT_DEMO_TENANT)


def pictures(arguments: Sequence[str]) -> int:
    """Take the screenshots of docs/img from a new copy with its demo tenant."""
    chromium.ensure()
    command = [sys.executable, "-m", "demo.pictures", *arguments]
    return against_a_new_copy("pictures", command, copies.PRODUCT)


def against_a_new_copy(
    name: str,
    command: Sequence[str],
    recipe: Recipe,
    *,
    durable: bool = True,
    folder: Path = ROOT,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> int:
    """Start a whole new copy quietly, run a program against it, stop it. The program runs in
    `folder` and is told the copy's address (`BASE_URL`) and these variables beside the copy's."""
    with stop_once():
        pair = slots.claim_free_pair(name, durable=durable)
        log = pair.profile.home / "logs" / f"{name}.log"
        try:
            pair.erase()
            log.parent.mkdir(parents=True)
            with log.open("w") as file, _copy(pair, file, recipe) as copy:
                code = _run_beside(copy, command, folder, variables)
        except DevstackError as problem:
            console.report(str(problem))
            code = 1
        finally:
            pair.close()
    if code != 0:
        tail = log_tail(log, LOG_TAIL_LINES)
        console.report(f"`./run {name}` failed ({code}); the end of {log}:\n{tail}")
    return code


@contextlib.contextmanager
def _copy(pair: Pair, log: IO[str], recipe: Recipe) -> Iterator[Copy]:
    def write(name: str, line: str) -> None:
        log.write(f"{name:>8} | {line}\n")
        log.flush()
        if name == "ballast":
            console.report(line)

    pace = {"SANDBOX_PACE": "seconds"}
    port = copies.free_port()
    with copies.running(pair, port=port, sink=write, recipe=recipe, overrides=pace) as copy:
        yield copy


def _run_beside(
    copy: Copy, command: Sequence[str], folder: Path, variables: Mapping[str, str]
) -> int:
    logins = json.dumps(dict(copy.demo))
    told = {**copy.environment, "PYTHONPATH": str(CLIENT), "BALLAST_DEMO": logins, **variables}
    with foreground.started(command, environment=told, folder=folder) as program:
        copy.supervisor.run_while(lambda: program.poll() is None)
        return foreground.exit_code(program.wait())


def bench(arguments: Sequence[str]) -> int:
    """Run the benchmarks on new, durable servers with debugging off."""
    with stop_once():
        pair = slots.claim_free_pair("bench", durable=True)
        try:
            pair.erase()
            pair.start()
            variables = _bench_environment(pair)
            preparation.migrate(pair.profile, variables, lambda _name, line: console.report(line))
            command = [sys.executable, "-m", "benchmarks", *arguments]
            return foreground.run(command, environment=variables, folder=ROOT)
        finally:
            pair.close()


def simulate(arguments: Sequence[str]) -> int:
    """Run the simulation on new servers of its own: it empties the database with every seed."""
    with stop_once():
        pair = slots.claim_free_pair("simulate")
        try:
            pair.erase()
            pair.start()
            profile = pair.profile
            variables = environment.development(profile) | {
                "DATABASE_URL": profile.database_url,
                "DATABASE_OWNER_URL": profile.owner_database_url,
                "BALLAST_SIMULATION_SUPERUSER_URL": profile.superuser_database_url,
            }
            preparation.migrate(profile, variables, lambda _name, line: console.report(line))
            command = [sys.executable, "-m", "simulation", *arguments]
            return foreground.run(command, environment=variables, folder=ROOT)
        finally:
            pair.close()


def _bench_environment(pair: Pair) -> Mapping[str, str]:
    tools = {
        "POSTGRES_TOOLS": str(postgres.binaries(pair.profile)),
        "BALLAST_BENCH_SUPERUSER_URL": pair.profile.superuser_database_url,
        "DEBUG": "False",
        "BASE_URL": "https://localhost",
        "SERVED_WITHOUT_PROXY": "True",
    }
    return environment.development(pair.profile) | tools
