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
        f"“{CYRILLIC_A}cme” is not “Acme”: “{CYRILLIC_A}” is a Cyrillic letter."
        " Compare it with the name that you know, letter by letter."
    )


@pytest.mark.parametrize(
    ("word", "looks", "letters"),
    [
        (
            "\u0410\u0441\u0441\u0435ss",
            "Access",
            "“\u0410”, “\u0441” and “\u0435” are Cyrillic letters",
        ),
        (
            "Payr\u03bfll\u0455",
            "Payrolls",
            "“\u03bf” is a Greek letter, and “\u0455” is a Cyrillic letter",
        ),
        ("\u0555hio", "Ohio", "“\u0555” is an Armenian letter"),
        ("\u0406nc", "Inc", "“\u0406” is a Cyrillic letter"),
        ("\U0001d400cme", "Acme", "“\U0001d400” is a special letter"),
    ],
)
def test_each_letter_is_told_with_its_alphabet(word, looks, letters):
    assert lookalikes.warning(word).startswith(f"“{word}” is not “{looks}”: {letters}. ")


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
