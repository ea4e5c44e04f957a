"""The table of what proves the contract names tests that exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
TABLE = TESTS.parent / "docs" / "contract-proofs.md"
NAMED = sorted({*re.findall(r"`([\w/]+\.py(?:::\w+)+)`", TABLE.read_text())})


@cache
def body_of(file):
    return ast.parse((TESTS / file).read_text()).body


def names(body):
    return {item.name: item for item in body if isinstance(item, ast.FunctionDef | ast.ClassDef)}


def is_a_test(named):
    file, *path = named.split("::")
    body = body_of(file)
    for name in path:
        if name not in names(body):
            return False
        body = names(body)[name].body
    return path[-1].startswith(("test_", "Test"))


def test_what_it_names_exists():
    assert len(NAMED) > 150
    assert [named for named in NAMED if not is_a_test(named)] == []
    assert not is_a_test("docs/test_contract_proofs.py::TestNothing::test_of_this_name")


def test_every_line_has_a_proof():
    rows = [line for line in TABLE.read_text().splitlines() if line.startswith("| ")]
    lines = [row for row in rows if not row.startswith("| Line")]

    assert len(lines) > 55
    assert [row for row in lines if "`" not in row.split("|")[2]] == []


@pytest.mark.parametrize(
    "added",
    [
        "`approval`",
        "`heldBackAt`",
        "`lastDeclineReason`",
        "`Sunset`",
        "Unknown query parameters",
        "no more than one `Idempotency-Key`",
        "`network_not_connected`",
    ],
)
def test_what_was_added_to_the_contract_has_its_line(added):
    assert added in TABLE.read_text()
