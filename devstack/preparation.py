"""Bring a copy's database up to date and give it its demo tenant, doing nothing twice."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import IO

from devstack import console, programs
from devstack.errors import StartFailed
from devstack.paths import ROOT, Profile
from devstack.processes import LOOK_SECONDS, death_bound, has_ended
from devstack.supervisor import Sink

NEIGHBOR_SECONDS = 30
_APPLIED = "... OK"  # at the end of the line that `migrate` writes for each migration
SCHEMA_FILES = ("requirements.txt",)
SCHEMA_FOLDERS = (
    "config/settings/*",
    "[a-z]*/migrations/**/*",
    "[a-z]*/*/migrations/**/*",
    # What the application may do to which table.
    "[a-z]*/models*",
    "[a-z]*/models/*",
    "common/database/*",
)


def migrate(profile: Profile, variables: Mapping[str, str], sink: Sink) -> None:
    """Apply the migrations and grants when they, the settings or the packages changed."""
    stamp = profile.state / "schema"
    wanted = schema_fingerprint(ROOT)
    is_done = stamp.exists() and stamp.read_text() == wanted
    if is_done and not _is_foreign_database(profile, variables):
        return
    sink("ballast", "applying the migrations")
    _manage(profile, variables, sink, "migrate", "--no-input", "--verbosity=1")
    if variables["DEBUG"] == "True":
        _manage(profile, variables, sink, "settable_clock")
    _manage(profile, variables, sink, "database_roles")
    profile.state.mkdir(mode=0o700, exist_ok=True)
    stamp.write_text(wanted)


def seed(profile: Profile, variables: Mapping[str, str], sink: Sink) -> Mapping[str, str]:
    """Make the demo tenants, or recall those made before; gives their logins.

    They are made again where the bank or the webhook receiver has another port or other keys than
    they were connected to.
    """

    def make() -> dict[str, str]:
        sink("ballast", "making the demo tenants")
        made: dict[str, str] = json.loads(_manage(profile, variables, sink, "seed_demo", "--json"))
        return made

    said = neighbors_said(profile)  # they are ready, too
    known = "" if _is_foreign_database(profile, variables) else said
    return recalled(_logins_of(profile), neighbors=known, make=make)


def known(profile: Profile) -> Mapping[str, str]:
    """The logins of the demo tenants, if they were made."""
    path = _logins_of(profile)
    demo: dict[str, str] = json.loads(path.read_text())["demo"] if path.exists() else {}
    return demo


def _logins_of(profile: Profile) -> Path:
    return profile.state / "demo.json"


def recalled(path: Path, *, neighbors: str, make: Callable[[], dict[str, str]]) -> dict[str, str]:
    """The logins that a file keeps, if they are of these neighbors; else they are made and kept.
    They are always made where nothing is known of the neighbors."""
    kept = json.loads(path.read_text()) if path.exists() else {}
    if not neighbors or kept.get("neighbors") != neighbors:
        kept = {"neighbors": neighbors, "demo": make()}
        path.touch(mode=0o600)
        path.write_text(json.dumps(kept))
    demo: dict[str, str] = kept["demo"]
    return demo


def neighbors_said(profile: Profile) -> str:
    """What the bank, the operator and the webhook receiver of the copy said of themselves when they
    were ready, in few letters. Raises StartFailed."""
    digest = hashlib.sha256()
    connections = (
        profile.bank_connection,
        profile.operator_connection,
        profile.receiver_connection,
    )
    for path in connections:
        _await_file(path)
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _await_file(path: Path) -> None:
    deadline = time.monotonic() + NEIGHBOR_SECONDS
    while not path.exists():
        if time.monotonic() > deadline:
            raise StartFailed(
                f"The {path.parent.name} in {path.parent} did not start within"
                f" {NEIGHBOR_SECONDS} s."
            )
        time.sleep(0.05)


def no_seed(_profile: Profile, _variables: Mapping[str, str], _sink: Sink) -> Mapping[str, str]:
    """For a copy without a demo tenant."""
    return {}


def schema_fingerprint(root: Path) -> str:
    """A digest of everything that decides what `migrate` and `database_roles` would do."""
    digest = hashlib.sha256()
    for path in sorted(_schema_files(root)):
        digest.update(f"{path.relative_to(root)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _schema_files(root: Path) -> Iterable[Path]:
    yield from (root / name for name in SCHEMA_FILES)
    for pattern in SCHEMA_FOLDERS:
        for path in root.glob(pattern):
            if path.suffix in {".py", ".sql"}:
                yield path


def _is_foreign_database(profile: Profile, variables: Mapping[str, str]) -> bool:
    """What we noted about our own database says nothing about one from DATABASE_URL."""
    return variables["DATABASE_URL"] != profile.database_url


def _manage(profile: Profile, variables: Mapping[str, str], sink: Sink, *arguments: str) -> str:
    """Run a management command to its end and give its standard output. Meanwhile `sink` is told
    every few seconds how far it is."""
    command = death_bound(programs.manage(*arguments), death_signal=signal.SIGTERM)
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=_without_metrics(variables),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )
        try:
            code = _await_end(process, output, sink)
        except BaseException:
            process.kill()
            process.wait()
            raise
        if code != 0:
            raise StartFailed(
                f"`manage.py {arguments[0]}` failed:\n{_read(errors)[-2000:]}\n"
                f"If the data comes from other code, `rm -r {profile.home}` starts afresh."
            )
        return _read(output)


def _await_end(process: subprocess.Popen[bytes], output: IO[str], sink: Sink) -> int:
    begun = told = time.monotonic()
    while not has_ended(process):
        time.sleep(LOOK_SECONDS)
        if (now := time.monotonic()) - told >= console.SIGN_OF_LIFE_SECONDS:
            told = now
            applied = _read(output).count(_APPLIED)
            done = f", {applied} migrations applied" if applied else ""
            sink("ballast", f"  … {now - begun:.0f} s{done}")
    return process.wait()


def _read(file: IO[str]) -> str:
    """What is in the file by now. The command writes at an offset that we must not move."""
    size = os.fstat(file.fileno()).st_size
    return os.pread(file.fileno(), size, 0).decode(errors="replace")


def _without_metrics(variables: Mapping[str, str]) -> dict[str, str]:
    """A command counts for itself: the folder is of the processes that serve, and not there yet."""
    return {name: text for name, text in variables.items() if name != "PROMETHEUS_MULTIPROC_DIR"}
