"""Letters that look like others are named, words of one alphabet are not."""

from __future__ import annotations

import pytest

from common import lookalikes

CYRILLIC_A = "\u0410"


@pytest.mark.parametrize(
    "word",
    [
        f"{CYRILLIC_A}cme",  # one letter among Latin ones
        "\u0410\u0441\u043c\u0435",  # every letter Cyrillic
        "Payr\u03bfll",  # a Greek omicron
        "\U0001d400cme",  # a mathematical letter
    ],
)
def test_imitations_mislead(word):
    assert lookalikes.misleads(word)


@pytest.mark.parametrize(
    "word",
    ["Acme", "Müller", "Łódź", "Straße", "Компания", "Αθήνα", "李", "Toyota\u30ce", "42", "-",
     "O\u2019Brien", "Ze\u0301"],
)  # fmt: skip
def test_honest_words_do_not(word):
    assert not lookalikes.misleads(word)


def test_the_warning_names_each_word_once():
    name = f"{CYRILLIC_A}cme Supplies"

    warning = lookalikes.warning("Northwind", name, name)

    assert warning.startswith(
        f"Letters of another alphabet that look like Latin ones are in “{CYRILLIC_A}cme”."
    )


def test_without_any_nothing_is_said():
    assert lookalikes.warning("Northwind", "Müller & Söhne", "") == ""
