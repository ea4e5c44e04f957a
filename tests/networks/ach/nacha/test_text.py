from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from networks.ach.nacha import text
from networks.ach.nacha.text import NothingLeft

WRITABLE = set(string.printable[:95]) - set(string.ascii_lowercase)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("Łódź Straße", "LODZ STRASSE"),
        ("Øre Đorđe", "ORE DORDE"),
        ("Ælfred Œuvre Þór Ðe", "AELFRED OEUVRE THOR DE"),
        ("José Ñandú Çelik Iğd\N{LATIN SMALL LETTER DOTLESS I}r", "JOSE NANDU CELIK IGDIR"),
        ("Jose\u0301", "JOSE"),
        ("Nguyễn Ståle", "NGUYEN STALE"),
        ("ﬁ Ⅷ ½ ™", "FI VIII 1/2 TM"),
        ("Ann’s “A–B” «c»", 'ANN\'S "A-B" "C"'),
        ("  a\tb\u00a0c\n", "A B C"),
        ("soft\u00adhyphen", "SOFTHYPHEN"),
        ("Col·lecció", "COLLECCIO"),
        ("A&B #1 (50%)", "A&B #1 (50%)"),
        ("Café 北京", "CAFE"),
        ("😀", ""),
        ("", ""),
    ],
)
def test_names_become_upper_case_ascii(name, plain):
    assert text.plain(name) == plain


def test_they_are_cut_to_their_field_without_a_blank_at_the_end():
    assert text.company_name("The Łódź Company Inc") == "THE LODZ COMPANY"
    assert text.individual_name("Anna-Katharina van der Straße") == "ANNA-KATHARINA VAN DER"
    assert text.company_entry_description("top-up now and then") == "TOP-UP NOW"
    assert text.company_name("a" * 15 + " b") == "A" * 15


@pytest.mark.parametrize("name", ["", "  ", "北京", "Иван", "...", "’", "\x00", "0", "00 000"])
def test_nothing_left_is_refused(name):
    for cut in (text.company_name, text.individual_name, text.company_entry_description):
        with pytest.raises(NothingLeft):
            cut(name)


@given(st.text())
def test_what_is_left_can_be_written(name):
    plain = text.plain(name)

    assert set(plain) <= WRITABLE
    assert plain == plain.strip()
    assert text.plain(plain) == plain
