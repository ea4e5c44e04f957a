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
