"""Names and words in the printable ASCII that both networks take, as long as they may be."""

from __future__ import annotations

from networks import latin

NAME_MAX = 140


def plain(text: str, length_max: int = NAME_MAX) -> str:
    """The text in base letters of the Latin script, single blanks between words, and cut.

    Raises ValueError if nothing is left: such a name is none that a bank has.
    """
    cut = latin.folded(text)[:length_max].rstrip()
    if not cut:
        raise ValueError("the text has no letter that a message can carry")
    return cut
