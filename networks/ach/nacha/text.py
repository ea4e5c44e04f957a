"""Names and descriptions in upper-case printable ASCII, cut to the width of their field.

Source: Nacha Operating Rules, Appendix Three (character set, field inclusion).
"""

from __future__ import annotations

from networks import latin

COMPANY_NAME_WIDTH = 16
INDIVIDUAL_NAME_WIDTH = 22
COMPANY_ENTRY_DESCRIPTION_WIDTH = 10


class NothingLeft(ValueError):
    """The text has no character that a bank's file can hold."""


def plain(text: str) -> str:
    """`text` in upper-case printable ASCII, single blanks between words. May be empty."""
    return latin.folded(text).upper()


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
