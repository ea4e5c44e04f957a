"""`./run up`: one owner, no orphans, whatever ends it."""

from __future__ import annotations

import json
import os
import pwd
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from devstack.accounts import servers_can_enter
from devstack.paths import ROOT
from tests.devstack.conftest import Stack
from tests.samples import by_day

pytestmark = pytest.mark.slow


class TestStopping:
    @pytest.mark.parametrize(
        "number", by_day([signal.SIGINT, signal.SIGTERM, signal.SIGHUP], {signal.SIGTERM})
    )
    def test_leaves_no_process_after_a_signal(self, stack: Stack, number: signal.Signals):
        stack.start()

        code = stack.end(number)

        assert code == 0
        assert stack.processes() == {}
        assert not stack.answers()

    def test_leaves_no_orphan_when_it_is_killed_outright(self, stack: Stack):
        stack.start()

        stack.end(signal.SIGKILL)

        stack.wait_for(lambda: not stack.processes())

    def test_a_second_ctrl_c_does_not_cut_the_stop_short(self, stack: Stack):
        stack.start()
        assert stack.process is not None

        stack.process.send_signal(signal.SIGINT)
        stack.process.send_signal(signal.SIGINT)
        code = stack.end(signal.SIGINT)

        assert code == 0
        assert stack.processes() == {}


class TestWithoutRoot:
    def test_needs_no_rights_and_leaves_no_process(self, state: Path):
        nobody = pwd.getpwnam("nobody")
        if os.geteuid() != 0:
            pytest.skip("all the other tests run without root already")
        if not (servers_can_enter(Path(sys.executable)) and servers_can_enter(ROOT)):
            pytest.skip("this Python or checkout is in a folder that only root can enter")
        os.chown(state, nobody.pw_uid, nobody.pw_gid)
        setpriv = ["setpriv", "--reuid=nobody", f"--regid={nobody.pw_gid}", "--clear-groups"]
        stack = Stack(state, run_as=[*setpriv, "env", f"HOME={state}"])

        stack.start()
        code = stack.end(signal.SIGINT)

        assert code == 0
        assert stack.processes() == {}
        assert {path.owner() for path in state.glob("dev/*")} == {"nobody"}


class TestStartingAgain:
    def test_works_on_what_a_kill_left_behind(self, stack: Stack):
        stack.start()
        stack.end(signal.SIGKILL)

        stack.start()

        assert stack.end(signal.SIGINT) == 0

    def test_believes_no_pid_file(self, stack: Stack):
        """After a reboot the pid in PostgreSQL's own file may be some other process of ours."""
        stack.start()
        stack.end(signal.SIGINT)
        pid_file = stack.profile.postgres_data / "postmaster.pid"
        pid_file.write_text(f"{os.getpid()}\n{stack.profile.postgres_data}\n0\n5432\n")
        lock = stack.profile.sockets / ".s.PGSQL.5432.lock"
        lock.write_text(pid_file.read_text())
        stack.profile.valkey_socket.touch()

        stack.start()

        assert stack.end(signal.SIGINT) == 0

    def test_is_refused_in_one_sentence_while_the_first_runs(self, stack: Stack):
        stack.start()
        assert stack.process is not None

        second = stack.run_again()

        assert second.returncode == 1
        assert second.stdout == ""
        assert second.stderr == (
            f"ballast: Profile 'dev' is already running (`./run up`, process {stack.process.pid} "
            f"at http://localhost:{stack.port}): stop it with `kill {stack.process.pid}`, "
            "or start a second copy with `./run up --profile NAME --port PORT`.\n"
        )
        assert stack.answers()

    def test_says_what_to_do_when_the_port_is_taken(self, stack: Stack, state: Path):
        stack.start()
        other = Stack(state / "other")
        other.state.mkdir(mode=0o711)
        other.port = stack.port

        refused = other.run_again()

        assert refused.returncode == 1
        assert f"Port {stack.port} is taken by another program" in refused.stderr
        assert "`./run up --profile dev --port " in refused.stderr
        assert other.processes() == {}


class TestTheBank:
    def test_takes_files_at_the_port_of_before_unless_somebody_else_has_it(self, stack: Stack):
        first = self.port_of(stack)
        stack.end(signal.SIGINT)
        again = self.port_of(stack)
        stack.end(signal.SIGKILL)
        with socket.socket() as somebody_else:
            stack.wait_for(lambda: not stack.processes())
            somebody_else.bind(("127.0.0.1", first))
            somebody_else.listen()

            other = self.port_of(stack)

        assert again == first
        assert other != first
        assert stack.end(signal.SIGINT) == 0

    def port_of(self, stack: Stack) -> int:
        """Where the bank of a copy that starts now says SFTP."""
        stack.start()
        stack.wait_for(stack.profile.bank_connection.exists)
        port: int = json.loads(stack.profile.bank_connection.read_text())["port"]
        with socket.create_connection(("127.0.0.1", port), timeout=10) as line:
            assert line.recv(8).startswith(b"SSH-2.0-")
        return port


class TestSupervision:
    @pytest.mark.parametrize(
        "victim",
        by_day(
            [
                "os.fork",
                "http.server",
                "valkey-server",
                "bin/postgres",
                "devstack.odfi",
                "devstack.instant",
            ],
            {"http.server", "bin/postgres"},
        ),
    )
    def test_starts_again_what_dies(self, stack: Stack, victim: str):
        stack.start()
        before = stack.processes()

        os.kill(stack.pid_of(victim), signal.SIGKILL)

        stack.wait_for(lambda: victim in " ".join(stack.processes(but=before).values()))
        stack.wait_for(stack.answers)
        assert "was killed (SIGKILL); starting it again in 1 s" in stack.output.read_text()

    def test_shows_who_wrote_a_line(self, stack: Stack):
        stack.start()

        stack.wait_for(lambda: "  worker | working\n" in stack.output.read_text())


class TestInfo:
    def test_shows_again_where_a_running_copy_is(self, stack: Stack):
        stack.start()
        assert stack.process is not None

        told = self.ask(stack)

        assert told.returncode == 0
        assert f"http://localhost:{stack.port}/dashboard/\n" in told.stdout
        assert f"  `kill {stack.process.pid}` stops it.\n" in told.stdout

    def test_says_how_to_start_one_that_does_not_run(self, stack: Stack):
        told = self.ask(stack)

        assert (told.returncode, told.stdout) == (1, "")
        assert told.stderr == (
            "ballast: Profile 'dev' is not running: start it with `./run`, "
            "or name another one with `--profile NAME`.\n"
        )

    def ask(self, stack: Stack) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "devstack", "info"],
            cwd=ROOT,
            env=stack.environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
