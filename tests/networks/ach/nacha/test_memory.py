"""A process of its own reads, writes and judges, and the kernel says what memory it had."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from devstack.paths import ROOT

pytestmark = pytest.mark.slow

MANY = 400_000
BOUND_MIB = 64


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("ach")


def codec(what, path, count):
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.ach_codec", what, str(path), str(count)],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_400_000_entries_pass_within_64_mib_and_without_django(folder):
    for what in ("write", "read", "judge"):
        found = codec(what, folder / "many.ach", MANY)

        assert found["entries"] == MANY
        assert found["peak_mib"] < BOUND_MIB
        assert not found["django"]


def test_a_reader_that_collects_would_be_seen(folder):
    codec("write", folder / "many.ach", MANY)

    assert codec("collect", folder / "many.ach", MANY)["peak_mib"] > BOUND_MIB


def test_a_million_entries_need_hardly_more_than_ten_thousand(folder):
    for what in ("write", "read", "judge"):
        few = codec(what, folder / "few.ach", 10_000)
        most = codec(what, folder / "most.ach", 1_000_000)

        assert most["entries"] == 1_000_000
        assert most["peak_mib"] < 1.2 * few["peak_mib"]
