"""Text in the printable ASCII that banks' files and messages hold.

Letters of the Latin script keep their base letter: what Unicode decomposes (é), what its own name
says has a base (Ł is "L with stroke"), and a table of the rest (ß, Þ, Ð). Other scripts are left
out: a name that a machine puts into Latin letters is none that the bank has, so that a person must
write it.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

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


def folded(text: str) -> str:
    """`text` in printable ASCII, single blanks between words. May be empty."""
    return " ".join("".join(map(_folded_character, text)).split())


@lru_cache(maxsize=2048)
def _folded_character(character: str) -> str:
    if " " <= character <= "~":
        return character
    if (known := _TABLE.get(character)) is not None:
        return _in_case_of(character, known)
    decomposed = unicodedata.normalize("NFKD", character)
    if decomposed != character:
        return "".join(map(_folded_character, decomposed))
    if unicodedata.combining(character):
        return ""
    base = _BASE.fullmatch(unicodedata.name(character, ""))
    return _in_case_of(character, base[1]) if base else " "


def _in_case_of(character: str, letters: str) -> str:
    return letters.lower() if character.islower() else letters
