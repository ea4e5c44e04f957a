"""Owning and borrowing the pair, as `./run manage` does."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from devstack import postgres, valkey
from devstack.paths import ROOT
from tests.devstack.conftest import Stack

pytestmark = pytest.mark.slow

COMMAND = """
import sys
from devstack import paths
from devstack.servers import borrowed_or_owned
with borrowed_or_owned(paths.profile(), purpose="`./run manage`"):
    print("in", flush=True)
    sys.stdin.readline()
"""
Command = subprocess.Popen[str]


@pytest.fixture
def begin(stack: Stack) -> Iterator[Callable[[], Command]]:
    """Start a command that uses the servers until it is told to end."""
    commands: list[Command] = []

    def start() -> Command:
        command = subprocess.Popen(
            [sys.executable, "-c", COMMAND],
            cwd=ROOT,
            env=stack.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        commands.append(command)
        assert command.stdout is not None
        assert command.stdout.readline() == "in\n"
        return command

    yield start
    for command in commands:
        command.communicate(timeout=120)


def answers(stack: Stack) -> bool:
    return postgres.is_ready(stack.profile) and valkey.is_ready(stack.profile)


def tell_to_end(command: Command) -> None:
    assert command.stdin is not None
    command.stdin.write("\n")
    command.stdin.flush()


class TestOneCommand:
    def test_runs_the_servers_for_itself_only(self, stack: Stack, begin: Callable[[], Command]):
        command = begin()
        assert answers(stack)

        tell_to_end(command)
        command.wait(120)

        assert stack.processes() == {}

    def test_leaves_nothing_when_it_is_killed(self, stack: Stack, begin: Callable[[], Command]):
        begin().kill()

        stack.wait_for(lambda: not stack.processes())

    def test_keeps_the_first_from_taking_the_servers_away(
        self, stack: Stack, begin: Callable[[], Command]
    ):
        first, second = begin(), begin()

        tell_to_end(first)

        with pytest.raises(subprocess.TimeoutExpired):
            first.wait(1)
        assert answers(stack)
        tell_to_end(second)
        assert (first.wait(120), second.wait(120)) == (0, 0)
        assert stack.processes() == {}

    def test_is_named_to_an_up_that_comes_too_late(
        self, stack: Stack, begin: Callable[[], Command]
    ):
        command = begin()

        refused = stack.run_again()

        assert refused.returncode == 1
        assert f"already running (`./run manage`, process {command.pid})" in refused.stderr
        tell_to_end(command)


class TestCommandBesideUp:
    def test_shares_the_servers_and_leaves_them_running(
        self, stack: Stack, begin: Callable[[], Command]
    ):
        stack.start()
        command = begin()

        tell_to_end(command)
        command.wait(120)

        assert answers(stack)
        assert stack.end(signal.SIGINT) == 0


class TestData:
    def test_outlives_the_servers_and_a_kill(self, stack: Stack, begin: Callable[[], Command]):
        note = stack.profile.postgres_data / "PG_VERSION"
        tell_to_end(first := begin())
        first.wait(120)
        born = note.stat().st_ino

        begin().kill()
        stack.wait_for(lambda: not stack.processes())
        tell_to_end(begin())

        assert note.stat().st_ino == born

    def test_is_made_whole_after_an_interrupted_beginning(
        self, stack: Stack, begin: Callable[[], Command]
    ):
        half_made: Path = stack.profile.home / "postgres.new"
        half_made.mkdir(parents=True)
        stack.profile.home.chmod(0o711)
        (half_made / "PG_VERSION").write_text("18")

        command = begin()

        assert answers(stack)
        assert not half_made.exists()
        tell_to_end(command)
