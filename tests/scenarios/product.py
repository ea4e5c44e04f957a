"""The real processes on the test database: worker, beat, web, and a Valkey of their own."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx

from devstack import programs, valkey
from devstack.paths import Profile, profile
from devstack.processes import Child, Program
from tests.database import owner


class Product:
    """Processes under test. Everything it starts ends with it, or with the test run."""

    def __init__(self, folder: Path, port: int, **settings: str) -> None:
        self.folder = folder
        self.port = port
        self._profile: Profile = profile(_profile_name())
        self._environment = self._make_environment() | settings
        self._children: dict[str, Child] = {}

    def start(self, *names: str) -> None:
        for name in names:
            self._children[name] = Child(self._program(name))
        if "valkey" in names:
            wait_until(lambda: valkey.is_ready(self._profile), seconds=60)
        if "web" in names:
            wait_until(lambda: self._is_up(), seconds=90)

    def kill(self, name: str) -> None:
        """SIGKILL to the process and everything it started."""
        self._children.pop(name).kill_group()

    def revive(self) -> None:
        """Start again what ended by itself, as every supervisor does."""
        for child in self._children.values():
            if child.has_ended:
                child.kill_group()
                child.restart()

    def finish(self, name: str) -> bool:
        """SIGTERM, and time to end in good order. False when it had to be killed."""
        return self._children.pop(name).stop()

    def stop(self) -> None:
        for child in self._children.values():
            child.kill_group()
        self._children.clear()

    def logs(self, name: str) -> str:
        path = self.folder / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    @property
    def redis_url(self) -> str:
        return self._profile.redis_url()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _is_up(self) -> bool:
        with contextlib.suppress(httpx.HTTPError):
            return httpx.get(f"{self.base_url}/healthz", timeout=5).status_code == 200
        return False

    def _program(self, name: str) -> Program:
        if name == "valkey":
            return valkey.program(self._profile, durable=False, kept_descriptor=2)
        (program,) = (
            program
            for program in programs.of_product(self._profile, self.port, self._environment)
            if program.name == name
        )
        return dataclasses.replace(program, log=self.folder / f"{name}.log")

    def _make_environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": owner.address(),
            "REDIS_URL": self._profile.redis_url(),
            "BALLAST_RUN_DIR": str(self.folder),
            "BASE_URL": self.base_url,
            "SANDBOX_PACE": "seconds",
            "EMAIL_URL": "consolemail://",
            "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8",
            "WEBHOOK_ALLOW_HTTP": "True",
        }


def _profile_name() -> str:
    """Of this process of the test run: it has a Valkey of its own."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    return f"{os.environ['BALLAST_TEST_PROFILE']}-scenario{worker}"


@contextlib.contextmanager
def running(folder: Path, port: int, *names: str, **settings: str) -> Iterator[Product]:
    """The named processes, ended afterwards whatever happens; `settings` are environment names."""
    product = Product(folder, port, **settings)
    try:
        product.start(*names)
        yield product
    finally:
        product.stop()


def supervised(product: Product, holds: Callable[[], bool]) -> Callable[[], bool]:
    """`holds`, asked while somebody looks after the processes."""

    def look_after() -> bool:
        product.revive()
        return holds()

    return look_after


def wait_until(holds: Callable[[], bool], *, seconds: float, every: float = 0.2) -> float:
    """Wait until `holds`; returns the seconds it took. Fails the test when it never does."""
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        if holds():
            return time.monotonic() - began
        time.sleep(every)
    raise AssertionError(f"not within {seconds} seconds")
