"""The table of the ASVS says something of every requirement, and names what exists."""

from __future__ import annotations

import re

import pytest

from tests.docs.test_contract_proofs import TESTS, is_a_test

ROOT = TESTS.parent
ROWS = [
    [cell.strip() for cell in line.strip("| ").split(" | ")]
    for line in (ROOT / "docs" / "security" / "asvs.md").read_text().splitlines()
    if re.match(r"\| \d", line)
]
NUMBERS = re.compile(r"[\d.]+\d(?:–[\d.]+\d)?")
# Of level 2 of ASVS 5.0.0, and of level 3 where money asks for it; a range means all within it.
REQUIREMENTS = NUMBERS.findall(
    """
    1.1.1 1.1.2 1.2.1–1.2.3 1.2.4 1.2.10 1.3.6 1.3.11 1.4.2 1.5.2
    2.1.1–2.1.3 2.2.1–2.2.3 2.3.1 2.3.2 2.3.3 2.3.4 2.3.5 2.4.1
    3.2.1 3.3.1–3.3.4 3.4.1 3.4.2 3.4.3 3.4.4–3.4.6 3.5.1–3.5.3 3.7.2
    4.1.1 4.1.2 4.1.3 4.2.1 5.4.1 5.4.2
    6.1.1 6.3.1 6.2.1–6.2.12 6.3.2 6.3.3 6.4.1 6.4.3 6.5.1–6.5.4 6.5.5 6.6.2 6.6.3
    6.8.1 6.8.2 6.8.4 10.1.2 10.2.1 10.2.2 10.5.1–10.5.4
    7.2.1–7.2.3 7.2.4 7.3.1 7.3.2 7.4.1–7.4.5 7.5.1 7.5.2 7.5.3
    8.1.1 8.1.2 8.2.1–8.2.3 8.3.1 8.3.2 8.4.1
    11.1.1 11.1.2 11.2.2 11.3.2 11.3.3 11.4.2 11.5.1 12.1.1–12.3.4
    13.2.1–13.2.4 13.3.1 13.3.2 13.4.1–13.4.5 14.1.1–14.2.4 14.3.1–14.3.3
    15.1.1–15.2.3 15.3.1–15.3.7 15.4.2 16.1.1–16.4.3 16.5.1–16.5.3
"""
)
NAMED = re.compile(r"`([\w./-]+\.(?:py|md|toml)(?:::\w+)*)`")


def exists(named):
    if "::" in named:
        return is_a_test(named)
    return (TESTS / named).is_file() or (ROOT / named).is_file()


def test_every_requirement_has_one_place():
    found = [number for row in ROWS for number in NUMBERS.findall(row[0])]

    assert sorted(found) == sorted(REQUIREMENTS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_says_by_what_or_why(row):
    _, asked, state, because = row
    named = NAMED.findall(because)

    assert asked
    assert state in {"met", "not applicable", "open"}
    assert named or state != "met"
    assert [name for name in named if not exists(name)] == []
