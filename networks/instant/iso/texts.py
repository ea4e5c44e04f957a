"""Names and words in the printable ASCII that both networks take, as long as they may be."""

from __future__ import annotations

import unicodedata

NAME_MAX = 140


def plain(text: str, length_max: int = NAME_MAX) -> str:
    """The text with the base letters of the Latin script, single blanks between words, and cut.

    Raises ValueError if nothing is left: such a name is none that a bank has.
    """
    decomposed = unicodedata.normalize("NFKD", text)
    letters = "".join(each if " " <= each <= "~" else _left_out(each) for each in decomposed)
    cut = " ".join(letters.split())[:length_max].rstrip()
    if not cut:
        raise ValueError("the text has no letter that a message can carry")
    return cut


def _left_out(character: str) -> str:
    return "" if unicodedata.combining(character) else " "
