"""The plugin seen from outside: small pytest runs of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping

import pytest

from devstack.paths import ROOT
from tests.devstack.conftest import Stack

pytestmark = pytest.mark.slow

# Each test writes down which servers it saw, and waits for the other one to have done so.
PROJECT = """
import json, os, pathlib, time
import psycopg, pytest, redis

@pytest.mark.parametrize("number", [1, 2])
def test_sees_servers(number):
    folder = pathlib.Path(os.environ["NOTES"])
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        assert connection.execute("SHOW server_version").fetchone()[0].startswith("18.")
    client = redis.Redis.from_url(os.environ["REDIS_URL"])
    assert client.set("seen", number)
    seen = {"redis": os.environ["REDIS_URL"], "profile": os.environ["BALLAST_TEST_PROFILE"]}
    (folder / f"{os.getpid()}-{number}").write_text(json.dumps(seen))
    deadline = time.monotonic() + 120
    while len(list(folder.iterdir())) < int(os.environ["WAIT_FOR"]):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    client.close()
"""

HUNG = """
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

@pytest.mark.timeout(1)
def test_waits_for_its_thread():
    with ThreadPoolExecutor() as pool:
        pool.submit(threading.Event().wait).result()

def test_runs_all_the_same():
    pass
"""


class Runs:
    """Pytest runs that share one state folder and one folder of notes."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.notes = stack.state / "notes"
        self.notes.mkdir()
        self.project = stack.state / "project"
        self.project.mkdir()
        (self.project / "test_servers.py").write_text(PROJECT)

    def begin(
        self, *options: str, wait_for: int = 1, given: Mapping[str, str] | None = None
    ) -> subprocess.Popen[str]:
        plugins = ["-p", "devstack.pytest_plugin", "-p", "no:django", "-p", "no:cacheprovider"]
        notes = {"NOTES": str(self.notes), "WAIT_FOR": str(wait_for)}
        return subprocess.Popen(
            [sys.executable, "-m", "pytest", "-c", "/dev/null", *plugins, *options, self.project],
            cwd=ROOT,
            env={**self.stack.environment, **notes, **(given or {})},
            stdout=subprocess.PIPE,
            text=True,
        )

    def seen(self, name: str) -> set[str]:
        return {json.loads(path.read_text())[name] for path in self.notes.iterdir()}


@pytest.fixture
def runs(stack: Stack) -> Runs:
    return Runs(stack)


def finish(run: subprocess.Popen[str]) -> None:
    output, _ = run.communicate(timeout=150)
    assert run.returncode == 0, output


class TestOneRun:
    def test_gets_both_servers_and_leaves_none(self, runs: Runs):
        finish(runs.begin())

        assert runs.seen("profile") == {"test"}
        assert runs.stack.processes() == {}

    def test_gives_each_worker_a_valkey_database_of_its_own(self, runs: Runs):
        finish(runs.begin("-n", "2", wait_for=2))

        assert {url.partition("?")[2] for url in runs.seen("redis")} == {"db=1", "db=2"}

    def test_leaves_nothing_when_it_is_killed(self, runs: Runs):
        run = runs.begin("-n", "2", wait_for=99)
        runs.stack.wait_for(lambda: len(runs.seen("profile")) == 1)

        run.kill()
        run.communicate()

        runs.stack.wait_for(lambda: not runs.stack.processes())


class TestATestThatHoldsUpItsTimeLimit:
    def test_ends_and_the_others_run(self, runs: Runs):
        (runs.project / "test_servers.py").write_text(HUNG)

        run = runs.begin("-n", "1")
        output, _ = run.communicate(timeout=150)

        assert run.returncode == 1
        assert "crashed while running" in output
        assert "1 failed, 1 passed" in output
        assert runs.stack.processes() == {}


class TestTwoRunsAtOnce:
    def test_never_share_servers(self, runs: Runs):
        first, second = runs.begin("-k1", wait_for=2), runs.begin("-k1", wait_for=2)

        finish(first)
        finish(second)

        assert runs.seen("profile") == {"test", "test-2"}


class TestGivenServers:
    def test_are_used_and_none_started(self, runs: Runs):
        """The servers of this very run stand for somebody else's."""
        given = {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL")}

        finish(runs.begin(given=given))

        assert runs.seen("redis") == {given["REDIS_URL"]}
        assert not (runs.stack.state / "test" / "postgres").exists()
