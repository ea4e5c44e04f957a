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


def test_the_warning_names_each_word_once_and_what_it_imitates():
    name = f"{CYRILLIC_A}cme Supplies"

    warning = lookalikes.warning("Northwind", name, name)

    assert warning == (
        f"“{CYRILLIC_A}cme” contains the Cyrillic letter “{CYRILLIC_A}”, which looks like a Latin"
        " one. It may imitate another name: ask whoever added it before you pay or approve."
    )


def test_several_words_are_named_together():
    assert lookalikes.warning(f"{CYRILLIC_A}cme {CYRILLIC_A}ir").endswith(
        " They may imitate other names: ask whoever added them before you pay or approve."
    )


@pytest.mark.parametrize(
    ("word", "letters"),
    [
        (
            "\u0410\u0441\u0441\u0435ss",
            "the Cyrillic letters “\u0410”, “\u0441” and “\u0435”, which look like Latin ones",
        ),
        (
            "Payr\u03bfll\u0455",
            "the Greek letter “\u03bf” and the Cyrillic letter “\u0455”,"
            " which look like Latin ones",
        ),
        ("\u0555hio", "the Armenian letter “\u0555”, which looks like a Latin one"),
        ("\u0406nc", "the Cyrillic letter “\u0406”, which looks like a Latin one"),
        ("\U0001d400cme", "the special letter “\U0001d400”, which looks like a Latin one"),
    ],
)
def test_each_letter_is_told_with_its_alphabet(word, letters):
    assert lookalikes.warning(word).startswith(f"“{word}” contains {letters}. ")


class TestAnAddress:
    IMITATED = f"jo@{CYRILLIC_A.lower()}cme.example"

    def test_is_spelled_as_programs_write_it_too(self):
        both = f"“{self.IMITATED}” (jo@xn--cme-5cd.example)"

        assert lookalikes.spelled(self.IMITATED) == both
        assert lookalikes.spelled("jo@xn--cme-5cd.example") == both
        assert lookalikes.spelled("jo@müller.example") == (
            "“jo@müller.example” (jo@xn--mller-kva.example)"
        )

    @pytest.mark.parametrize(
        "address", ["jo@acme.example", "JO@Acme.Example", "", "owners", "jo@xn--.example", "a@b..c"]
    )
    def test_of_plain_letters_stays_as_it_is(self, address):
        assert lookalikes.spelled(address) == address

    def test_whose_domain_is_none_is_spelled_without_foreign_letters(self):
        assert lookalikes.spelled("jo@" + "ü" * 70)[-10:-1].isascii()

    def test_is_named_once_in_a_warning(self):
        warning = lookalikes.address_warning("jo@acme.example", self.IMITATED, self.IMITATED)

        assert warning.startswith(
            f"A domain with letters beyond a to z is in “{self.IMITATED}” (jo@xn--cme-5cd.example)."
        )
        assert lookalikes.address_warning("jo@acme.example", "") == ""


def test_without_any_nothing_is_said():
    assert lookalikes.warning("Northwind", "Müller & Söhne", "") == ""
