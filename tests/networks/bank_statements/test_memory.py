"""A process of its own reads a large statement, and the kernel says what memory it had."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from devstack.paths import ROOT

pytestmark = pytest.mark.slow

FEW, MANY = 10_000, 100_000
BOUND_MIB = 80
FORMATS = ["bai2", "camt"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("statements")


def reader(what, form, path, count):
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.statement_readers", what, form, str(path), str(count)],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("form", FORMATS)
def test_100_000_lines_pass_within_80_mib_and_without_django(folder, form):
    path = folder / f"many.{form}"
    reader("write", form, path, MANY)

    found = reader("read", form, path, MANY)

    assert found["lines"] == MANY
    assert found["peak_mib"] < BOUND_MIB
    assert not found["django"]


@pytest.mark.parametrize("form", FORMATS)
def test_a_reader_that_collects_would_be_seen(folder, form):
    path = folder / f"many.{form}"
    reader("write", form, path, MANY)

    assert reader("collect", form, path, MANY)["peak_mib"] > BOUND_MIB


@pytest.mark.parametrize("form", FORMATS)
def test_ten_times_the_lines_need_no_more_than_their_ids(folder, form):
    path = folder / f"any.{form}"
    peaks = []
    for count in (FEW, MANY):
        reader("write", form, path, count)
        peaks.append(reader("read", form, path, count)["peak_mib"])

    few, many = peaks
    bytes_a_line = (many - few) * 2**20 / (MANY - FEW)
    assert bytes_a_line < 300
