"""The embedded pair, PostgreSQL and Valkey: owned by one process, borrowed by others.

Three locks per profile, all released by the kernel however a process ends:

* `owner.lock`: held by the process that runs the pair; its note says who that is.
* `servers.lock`: inherited by the servers, so it is free only when they are really gone.
* `users.lock`: shared by every borrower, so that an owner that has finished waits for them.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Protocol

from devstack import postgres, valkey
from devstack.errors import AlreadyRunning, StartFailed
from devstack.locks import FileLock
from devstack.paths import Profile
from devstack.processes import Child, Program, log_tail

START_SECONDS = 60
POLL_SECONDS = 0.02


@dataclass(frozen=True, kw_only=True)
class OwnerNote:
    """Who runs a profile, for the sentence a second start gets."""

    pid: int
    purpose: str
    address: str = ""


@dataclass(frozen=True, kw_only=True)
class Server:
    """One of the pair: how to make its program and how to see that it answers."""

    program: Program
    is_ready: Callable[[], bool]


class ServerModule(Protocol):
    """`devstack.postgres` and `devstack.valkey`."""

    def program(self, profile: Profile, *, durable: bool, kept_descriptor: int) -> Program: ...

    def is_ready(self, profile: Profile) -> bool: ...


class Pair:
    """The servers this process owns. Needs `claim()` first; `close()` ends everything."""

    def __init__(self, profile: Profile, *, durable: bool) -> None:
        self.profile = profile
        self.durable = durable
        self.modules = wanted_modules()
        self.children: list[Child] = []
        self._owner = FileLock(profile.home / "owner.lock")
        self._alive = FileLock(profile.home / "servers.lock")

    def claim(self, *, purpose: str, address: str = "") -> bool:
        """Become the owner. False when somebody else is; waits for a dead owner's servers."""
        if not self._owner.acquire(timeout=0):
            return False
        if not self._alive.acquire(timeout=START_SECONDS):
            self._owner.release()
            raise StartFailed(f"Old servers of profile {self.profile.name} do not end: see `ps`.")
        note = OwnerNote(pid=os.getpid(), purpose=purpose, address=address)
        self._owner.write_note(json.dumps(asdict(note)))
        return True

    def erase(self) -> None:
        """Throw the claimed profile's data away, for a run that must begin with nothing."""
        for path in self.profile.home.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.suffix != ".lock":
                path.unlink()

    def start(self) -> None:
        """Start what no environment variable replaces, and wait until it answers."""
        servers = [self._server(module) for module in self.modules]
        self.children = [Child(server.program) for server in servers]
        for child, server in zip(self.children, servers, strict=True):
            _await_ready(child, server)

    def close(self) -> None:
        """Stop Valkey, then PostgreSQL, and give the profile up."""
        while self.children:
            self.children.pop().stop()
        self._alive.release()
        self._owner.release()

    def _server(self, module: ServerModule) -> Server:
        program = module.program(
            self.profile, durable=self.durable, kept_descriptor=self._alive.descriptor
        )
        return Server(program=program, is_ready=lambda: module.is_ready(self.profile))


def wanted_modules() -> list[ServerModule]:
    """The servers that no environment variable replaces."""
    return [
        module
        for variable, module in (("DATABASE_URL", postgres), ("REDIS_URL", valkey))
        if not os.environ.get(variable)
    ]


@contextlib.contextmanager
def owned(
    profile: Profile, *, purpose: str, durable: bool = True, address: str = ""
) -> Iterator[Pair]:
    """Run the pair for one block. AlreadyRunning when another process owns the profile."""
    pair = Pair(profile, durable=durable)
    if not pair.claim(purpose=purpose, address=address):
        raise AlreadyRunning(already_running_sentence(profile))
    try:
        pair.start()
        yield pair
    finally:
        pair.close()


@contextlib.contextmanager
def borrowed_or_owned(profile: Profile, *, purpose: str) -> Iterator[None]:
    """Use the pair for one command: a running owner's if there is one, else our own."""
    users = FileLock(profile.home / "users.lock")
    pair = Pair(profile, durable=True)
    users.acquire(shared=True)
    try:
        if pair.claim(purpose=purpose):
            pair.start()
        else:
            _await_owner(profile)
        yield
    finally:
        users.release()
        if pair.children:
            with users:  # others may still be borrowing from us
                pair.close()
        pair.close()


def already_running_sentence(profile: Profile) -> str:
    """One sentence: which profile, who has it, how to stop it or to use another."""
    note = owner_note(profile)
    who = f"{note.purpose}, process {note.pid}" if note else "another process"
    where = f" at {note.address}" if note and note.address else ""
    how = f"`kill {note.pid}`" if note else "Ctrl-C where it runs"
    return (
        f"Profile {profile.name!r} is already running ({who}{where}): stop it with {how}, "
        f"or start a second copy with `./run up --profile NAME --port PORT`."
    )


def owner_note(profile: Profile) -> OwnerNote | None:
    """The note of the live owner, if there is one."""
    path = profile.home / "owner.lock"
    if not FileLock.is_held(path):
        return None
    try:
        return OwnerNote(**json.loads(path.read_text()))
    except (ValueError, TypeError):
        return None


def _await_owner(profile: Profile) -> None:
    """Wait until the owner's servers answer: it may be just starting."""
    modules = wanted_modules()
    deadline = time.monotonic() + START_SECONDS
    while not all(module.is_ready(profile) for module in modules):
        if time.monotonic() > deadline:
            raise StartFailed(f"The servers of profile {profile.name!r} do not answer.")
        time.sleep(POLL_SECONDS)


def _await_ready(child: Child, server: Server) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not server.is_ready():
        if child.has_ended or time.monotonic() > deadline:
            log = server.program.log
            tail = log_tail(log) if log else ""
            raise StartFailed(f"{child.name} did not start; the end of {log}:\n{tail}")
        time.sleep(POLL_SECONDS)
