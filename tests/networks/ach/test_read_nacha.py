"""`manage.py read_nacha`"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from benchmarks import ach_codec
from devstack.paths import ROOT
from tests.networks.ach.nacha import raw


@pytest.fixture
def shown(tmp_path):
    def show(lines, *options):
        path = tmp_path / "file.ach"
        path.write_bytes(lines if isinstance(lines, bytes) else raw.content(lines))
        output = StringIO()
        call_command("read_nacha", *options, "--json", str(path), stdout=output)
        assert output.getvalue().count("\n") == 1
        return json.loads(output.getvalue())

    return show


def fault(line, code, detail):
    return {"line": line, "code": code, "detail": detail}


def test_says_what_a_file_holds(shown):
    expected = {
        "ok": True,
        "faults": [],
        "faultCount": 0,
        "notes": [],
        "secs": ["CCD", "PPD", "WEB"],
        "entries": 5,
        "returns": 0,
        "nocs": 0,
        "debit": 45_000,
        "credit": 15_001,
    }

    assert shown(raw.forward_file()) == expected
    assert shown(raw.forward_file(), "--originated") == expected


def test_counts_returns_and_notifications(shown):
    found = shown(raw.return_file())
    assert (found["ok"], found["returns"], found["nocs"], found["debit"]) == (True, 1, 0, 15_000)

    found = shown(raw.noc_file())
    assert (found["ok"], found["returns"], found["nocs"], found["secs"]) == (True, 0, 1, ["COR"])


def test_names_faults_with_their_lines(shown):
    found = shown(raw.changed(raw.forward_file(), 6, 44, "1"))

    assert found["ok"] is False
    assert found["faults"] == [
        fault(6, "batch_total_credit_wrong", "the total credit says 1, the entries make 0")
    ]


def test_is_stricter_with_what_we_send(shown):
    lines = raw.file(raw.batch(raw.entry(name="Acme"), settlement="328"))

    assert shown(lines)["ok"] is True
    assert [one["code"] for one in shown(lines, "--originated")["faults"]] == [
        "settlement_date_filled",
        "lower_case",
    ]


def test_judges_dates_by_the_banking_calendar(shown):
    lines = raw.file(
        raw.batch(raw.entry(), effective="261126"),  # Thanksgiving
        header=raw.file_header(day="261125"),
    )

    found = shown(lines, "--originated")

    assert found["faults"] == [
        fault(2, "effective_entry_date_closed", "the effective entry date is no banking day")
    ]


def test_lists_a_thousand_faults_and_counts_them_all(shown):
    entries = [raw.entry(number, check="6") for number in range(1, 1_501)]

    found = shown(raw.file(raw.batch(*entries)))

    assert (found["faultCount"], len(found["faults"])) == (1_500, 1_000)


def test_lists_notes_apart(shown):
    found = shown(raw.forward_file()[:14])

    assert found["ok"] is True
    assert [(note["line"], note["code"]) for note in found["notes"]] == [(14, "fill_missing")]


def test_takes_any_bytes(shown):
    assert shown(b"")["faults"] == [fault(1, "file_empty", "the file has no record")]
    assert shown(os.urandom(5_000))["ok"] is False
    assert shown(bytes(100_000), "--originated")["ok"] is False


@pytest.mark.parametrize("name", ["missing.ach", "."])
def test_a_file_that_cannot_be_read_is_no_verdict(tmp_path, name):
    with pytest.raises(CommandError, match=r"cannot read .*: (No such file|Is a directory)"):
        call_command("read_nacha", "--json", str(tmp_path / name))


_MEASURED = """
import runpy, sys
from pathlib import Path
sys.argv[0] = "manage.py"
try:
    runpy.run_path("manage.py", run_name="__main__")
finally:
    status = Path("/proc/self/status").read_text()
    print(status.partition("VmHWM:")[2].split()[0], file=sys.stderr)
"""


def peak_mib(*arguments):
    """What the command needs at most, in a process of its own, and what it says."""
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, "read_nacha", "--json", *arguments],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", "DEBUG": "True"},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stderr.split()[-1]) / 1024, json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--originated",)])
def test_needs_at_most_30_mib_more_for_400_000_entries_than_for_none(tmp_path, options):
    empty, full = tmp_path / "empty.ach", tmp_path / "full.ach"
    empty.write_bytes(b"")
    ach_codec.write_file(full, 400_000)

    least, _ = peak_mib(*options, str(empty))
    most, found = peak_mib(*options, str(full))

    assert (found["ok"], found["entries"]) == (True, 400_000)
    assert most - least < 30
