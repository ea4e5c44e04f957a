from __future__ import annotations

import re
import time

import pytest
import time_machine

from common import ids

EXAMPLE = "ftx_01kaj9s3d4m5n6p7q8r9s0t1v2"


def test_an_id_is_a_prefix_and_26_characters():
    assert re.fullmatch("ftx_[0-7][0-9a-hjkmnp-tv-z]{25}", ids.new("ftx"))


def test_ids_sort_by_time():
    with time_machine.travel("2026-11-20T15:00:00.001Z", tick=False):
        first = ids.new("ftx")
    with time_machine.travel("2026-11-20T15:00:00.002Z", tick=False):
        second = ids.new("ftx")

    assert first < second


def test_the_first_ten_characters_are_the_milliseconds():
    with time_machine.travel(0, tick=False):
        assert ids.new("ftx").startswith("ftx_0000000000")
    with time_machine.travel(2**48 / 1000 - 1, tick=False):
        assert ids.new("ftx").startswith("ftx_7zzzzzz")


def test_ids_of_one_moment_do_not_collide():
    with time_machine.travel(time.time(), tick=False):
        assert len({ids.new("ftx") for _ in range(10_000)}) == 10_000


def test_an_id_is_known_by_its_form():
    assert ids.is_id(EXAMPLE, "ftx")
    assert ids.is_id(ids.new("usr"), "usr")


@pytest.mark.parametrize(
    "value",
    [
        None, 1, True, b"ftx_01", [], "", "ftx", "ftx_", EXAMPLE.upper(), EXAMPLE[:-1],
        EXAMPLE + "0", EXAMPLE + "\n", " " + EXAMPLE, EXAMPLE.replace("ftx", "pay"),
        "ftx_81kaj9s3d4m5n6p7q8r9s0t1v2", "ftx_01kaj9s3d4m5n6p7q8r9s0t1vu",
        "ftx_01kaj9s3d4m5n6p7q8r9s0t1vi", "ftx_" + "\u0661" * 26, EXAMPLE.replace("0", "\0", 1),
    ],
)  # fmt: skip
def test_anything_else_is_not_one(value):
    assert not ids.is_id(value, "ftx")
