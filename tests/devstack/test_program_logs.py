"""What a running copy shows of its programs, and what it only keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from devstack import program_logs
from devstack.program_logs import ProgramLogs

ANSWERED = "2026-11-24T10:00:00Z [info     ] request_finished               [django_structlog]"
WARNED = "2026-11-24T10:00:00Z [warning  ] network_slow                   [transfers]"
BROKE = '{"event": "task_failed", "level": "error"}'


class TestWrite:
    def test_shows_what_a_person_should_see(self, tmp_path: Path, capsys):
        logs = ProgramLogs(tmp_path)
        for line in (ANSWERED, WARNED, BROKE, '{"event": "x", "level": "info"}', "Traceback"):
            logs.write("web", line)
        logs.close()

        shown = capsys.readouterr().out.splitlines()

        assert shown == [f"     web | {line}" for line in (WARNED, BROKE, "Traceback")]

    def test_keeps_every_line_of_each_program(self, tmp_path: Path):
        for line in (ANSWERED, WARNED):  # two runs of one copy
            logs = ProgramLogs(tmp_path)
            logs.write("web", line)
            logs.write("beat", "tick")
            logs.close()

        assert (tmp_path / "web.log").read_text() == f"{ANSWERED}\n{WARNED}\n"
        assert (tmp_path / "beat.log").read_text() == "tick\ntick\n"

    def test_sets_a_long_file_aside(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(program_logs, "LOG_BYTES_MAX", 10)
        logs = ProgramLogs(tmp_path)
        for line in ("the first line", "the second line", "the third line"):
            logs.write("web", line)
        logs.close()

        assert (tmp_path / "web.log").read_text() == "the third line\n"
        assert (tmp_path / "web.old.log").read_text() == "the second line\n"
