"""Which characters a file can show. Its typefaces come with the compiler: Latin, Greek, Cyrillic,
Hebrew, Arabic, Armenian and Georgian letters, and many signs.

The compiler refuses a file with a character that has no shape, because PDF/UA does: so such a
character is named, if it is a sign, or a square stands in for it.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from itertools import chain

STAND_IN = "□"

# Every letter, number, sign and punctuation mark in them has a shape: the tests print them all.
PRINTED_RANGES = (
    range(0x0021, 0x0500),  # Latin, Greek, Cyrillic
    range(0x0531, 0x060D),  # Armenian, Hebrew
    range(0x0621, 0x063B),  # Arabic
    range(0x0640, 0x066E),
    range(0x10D0, 0x1100),  # Georgian
    range(0x1D00, 0x2041),  # Latin with accents, Greek with accents, dashes and quotation marks
    range(0x2054, 0x211F),  # currencies, letters as signs
    range(0x2190, 0x2400),  # arrows, mathematics
    range(0x2460, 0x2630),  # numbers in circles, shapes
)
_PRINTED = frozenset(chr(code) for code in chain.from_iterable(PRINTED_RANGES))


def printable(text: str) -> str:
    """The text in NFC with every character that a file can show. Accents that are no part of a
    letter are left out, and so is what cannot be seen or turns the order of letters around."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown, unicodedata.normalize("NFC", text)))


@cache
def _shown(character: str) -> str:
    kind = unicodedata.category(character)
    if kind[0] in "LNPS" and character in _PRINTED:
        return character
    if character.isspace():
        return " "
    if kind[0] in "CM":
        return ""
    if kind[0] == "S":
        return f"[{unicodedata.name(character, 'sign').lower()}]"
    return STAND_IN
