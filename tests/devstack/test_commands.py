"""`./run` as somebody types it, where that needs no servers."""

from __future__ import annotations

import subprocess
import sys

import pytest

from devstack import __main__ as commands
from devstack import coverage, suite
from devstack.paths import ROOT


class TestHelp:
    @pytest.mark.parametrize("argument", ["help", "--help", "-h"])
    def test_needs_no_virtual_environment(self, argument: str):
        shown = subprocess.run(
            ["./run", argument], cwd=ROOT, capture_output=True, text=True, check=True
        )

        assert shown.stdout == commands.HELP
        assert shown.stderr == ""

    def test_names_every_command(self):
        for command in commands.COMMANDS:
            assert f"\n  {command}" in commands.HELP


class TestUnknownCommand:
    def test_is_refused_with_a_pointer_to_the_help(self, capsys: pytest.CaptureFixture[str]):
        assert commands.main(["upp"]) == 2
        assert "no command 'upp'; see `./run help`" in capsys.readouterr().err


class TestOptionsWithoutACommand:
    def test_belong_to_up(self):
        assert commands._split(["--port", "9000"]) == ("up", ["--port", "9000"])
        assert commands._split([]) == ("up", [])


class TestCoverageByPackage:
    def test_counts_lines_not_files(self):
        def file(covered: int, statements: int) -> dict[str, dict[str, int]]:
            return {"summary": {"covered_lines": covered, "num_statements": statements}}

        report = {
            "files": {
                "balance/services.py": file(90, 90),
                "balance/api/views.py": file(0, 10),
                "balance/__init__.py": file(0, 0),
                "common/__init__.py": file(0, 0),
            }
        }

        assert coverage.by_package(report) == {"balance": 90.0}


class TestPhases:
    def test_repeat_the_closing_line_of_each_and_fail_if_one_failed(
        self, capfd: pytest.CaptureFixture[str]
    ):
        script = "print('dots'); print('1 {} in 0.1s'); raise SystemExit({})"
        phases = (
            suite.Phase("first", [sys.executable, "-c", script.format("failed", 1)]),
            suite.Phase("second", [sys.executable, "-c", script.format("passed", 0)]),
        )

        assert suite.run_phases(phases=phases) == 1

        assert capfd.readouterr().out.endswith("\n1 failed in 0.1s\n1 passed in 0.1s\n")

    def test_have_the_variables_of_their_own_beside_those_of_the_run(
        self, capfd: pytest.CaptureFixture[str]
    ):
        script = "import os; print(os.environ['OF_THE_RUN'], os.environ.get('OWN'))"
        command = [sys.executable, "-c", script]
        phases = (suite.Phase("first", command, {"OWN": "1"}), suite.Phase("second", command))

        assert suite.run_phases({"OF_THE_RUN": "2"}, phases) == 0

        assert capfd.readouterr().out.endswith("\n2 1\n2 None\n")

    def test_try_at_night_what_the_day_tries_and_more(self):
        phase = suite.Phase("first", ["pytest", "tests/a.py"], paths_at_night=["tests"])

        assert phase.at_night().command == ["pytest", "tests/a.py", "tests", "--nightly"]
