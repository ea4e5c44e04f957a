"""Each promise of SECURITY.md names the tests that fail without it, and they exist."""

from __future__ import annotations

import re

import pytest

from tests.docs.test_asvs import NAMED, ROOT, exists

PROMISES = ROOT / "docs" / "security" / "promises.md"


def rows_of(text):
    """The cells of each table's rows, without heads."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]


def promised():
    """The first cells of the table of SECURITY.md."""
    table = (ROOT / "SECURITY.md").read_text().partition("| What | How |")[2].partition("\n\n")[0]
    return [what for what, *_ in rows_of(table)]


ROWS = [row for row in rows_of(PROMISES.read_text()) if "Fails if it is not so" not in row]


def test_each_has_its_lines():
    of = [row[0] for row in ROWS if len(row) == 3]

    assert list(dict.fromkeys(of)) == promised()
    assert len(of) > 50


@pytest.mark.parametrize("row", ROWS, ids=lambda row: " ".join(row[:-1]))
def test_a_line_names_tests_that_exist(row):
    named = NAMED.findall(row[-1])

    assert named
    assert [name for name in named if not (name.endswith(".py") or exists(name))] == []
    assert [name for name in named if name.endswith(".py") and not exists(name)] == []
    assert not re.sub(r"`[^`]+`|, ", "", row[-1])
