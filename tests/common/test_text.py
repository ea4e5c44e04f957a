"""What nobody can see is in no name."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from common import text

UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


@pytest.mark.parametrize(
    "unseen",
    ["\u202e", "\u2066", "\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u3164", "\u115f",
     "\u034f", "\ufe0f", "\u2800", "\U000e0061", "\x00", "\x1b", "\ud800", "\n"],
)  # fmt: skip
def test_characters_without_a_shape_are_refused(unseen):
    with pytest.raises(text.Unseen):
        text.composed(f"Ac{unseen}me")


def test_every_character_of_those_categories_is_refused():
    every = map(chr, range(sys.maxunicode + 1))
    unseen = [each for each in every if unicodedata.category(each) in UNSEEN]

    assert [each for each in unseen if _passes(each)] == []


def test_line_breaks_pass_where_there_may_be_several():
    assert text.composed("two\r\nlines", lines=True) == "two\r\nlines"
    with pytest.raises(text.Unseen):
        text.composed("a\u202eb\nc", lines=True)


def test_accents_are_composed():
    assert text.composed("Zoe\u0308") == "Zo\u00eb"


@pytest.mark.parametrize("name", ["O\u2019Brien & Söhne, Inc.", "李 Li", "Łódź", "שלום", "👍"])
def test_names_of_any_script_pass(name):
    assert text.composed(name) == name


def _passes(character: str) -> bool:
    try:
        text.composed(character)
    except text.Unseen:
        return False
    return True
