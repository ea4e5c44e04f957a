"""Names and descriptions in upper-case printable ASCII, cut to the width of their field.

Letters of the Latin script keep their base letter: what Unicode decomposes (é), what its own name
says has a base (Ł is "L with stroke"), and a table of the rest (ß, Þ, Ð). Other scripts are left
out: a name that a machine puts into Latin letters is none that the bank has, so that a person must
write it. Source: Nacha Operating Rules, Appendix Three (character set, field inclusion).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

COMPANY_NAME_WIDTH = 16
INDIVIDUAL_NAME_WIDTH = 22
COMPANY_ENTRY_DESCRIPTION_WIDTH = 10

_BASE = re.compile(r"LATIN (?:CAPITAL |SMALL )(?:LETTER|LIGATURE) ([A-Z]{1,2})(?: WITH .*)?")

# What Unicode calls the characters, by what takes their place.
_NAMES = {
    "SS": ("LATIN SMALL LETTER SHARP S", "LATIN CAPITAL LETTER SHARP S"),
    "TH": ("LATIN SMALL LETTER THORN", "LATIN CAPITAL LETTER THORN"),
    "D": (
        "LATIN SMALL LETTER ETH",
        "LATIN CAPITAL LETTER ETH",
        "LATIN CAPITAL LETTER AFRICAN D",
    ),
    "NG": ("LATIN SMALL LETTER ENG", "LATIN CAPITAL LETTER ENG"),
    "ZH": ("LATIN SMALL LETTER EZH", "LATIN CAPITAL LETTER EZH"),
    "A": ("LATIN SMALL LETTER SCHWA", "LATIN CAPITAL LETTER SCHWA"),
    "E": ("LATIN SMALL LETTER OPEN E", "LATIN CAPITAL LETTER OPEN E"),
    "O": ("LATIN SMALL LETTER OPEN O", "LATIN CAPITAL LETTER OPEN O"),
    "I": ("LATIN SMALL LETTER DOTLESS I",),
    "J": ("LATIN SMALL LETTER DOTLESS J",),
    "K": ("LATIN SMALL LETTER KRA",),
    "X": ("MULTIPLICATION SIGN",),
    "'": (
        "LEFT SINGLE QUOTATION MARK",
        "RIGHT SINGLE QUOTATION MARK",
        "SINGLE LOW-9 QUOTATION MARK",
        "MODIFIER LETTER TURNED COMMA",
        "MODIFIER LETTER APOSTROPHE",
        "ACUTE ACCENT",
        "PRIME",
    ),
    '"': (
        "LEFT DOUBLE QUOTATION MARK",
        "RIGHT DOUBLE QUOTATION MARK",
        "DOUBLE LOW-9 QUOTATION MARK",
        "LEFT-POINTING DOUBLE ANGLE QUOTATION MARK",
        "RIGHT-POINTING DOUBLE ANGLE QUOTATION MARK",
    ),
    "-": (
        "HYPHEN",
        "NON-BREAKING HYPHEN",
        "FIGURE DASH",
        "EN DASH",
        "EM DASH",
        "HORIZONTAL BAR",
        "MINUS SIGN",
    ),
    "/": ("FRACTION SLASH",),
    "": (
        "MIDDLE DOT",
        "SOFT HYPHEN",
        "ZERO WIDTH SPACE",
        "ZERO WIDTH JOINER",
        "ZERO WIDTH NON-JOINER",
    ),
}
_TABLE = {unicodedata.lookup(name): plain for plain, names in _NAMES.items() for name in names}


class NothingLeft(ValueError):
    """The text has no character that a bank's file can hold."""


def plain(text: str) -> str:
    """`text` in upper-case printable ASCII, single blanks between words. May be empty."""
    return " ".join("".join(map(_plain_character, text)).upper().split())


def fitted(text: str, width: int) -> str:
    """`text` in at most `width` plain characters. Raises NothingLeft without a letter, or a digit
    other than zero: operators take zeros for a blank."""
    cut = plain(text)[:width].rstrip()
    if not any(each.isalnum() and each != "0" for each in cut):
        raise NothingLeft("no letter or digit is left")
    return cut


def company_name(text: str) -> str:
    """Raises NothingLeft."""
    return fitted(text, COMPANY_NAME_WIDTH)


def individual_name(text: str) -> str:
    """Raises NothingLeft."""
    return fitted(text, INDIVIDUAL_NAME_WIDTH)


def company_entry_description(text: str) -> str:
    """Raises NothingLeft."""
    return fitted(text, COMPANY_ENTRY_DESCRIPTION_WIDTH)


@lru_cache(maxsize=2048)
def _plain_character(character: str) -> str:
    if " " <= character <= "~":
        return character
    if (known := _TABLE.get(character)) is not None:
        return known
    decomposed = unicodedata.normalize("NFKD", character)
    if decomposed != character:
        return "".join(map(_plain_character, decomposed))
    if unicodedata.combining(character):
        return ""
    base = _BASE.fullmatch(unicodedata.name(character, ""))
    return base[1] if base else " "
