"""What can be wrong with a message that comes: stable codes, and what to do about each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

SENTENCES: Mapping[str, str] = MappingProxyType(
    {
        "too_large": "The message has more than 1 MiB",
        "encoding_unsupported": "The message is not in UTF-8",
        "doctype_refused": "The message declares a document type",
        "xml_malformed": "The message is not well-formed XML",
        "xml_too_deep": "The message is nested more than 50 deep",
        "envelope_unknown": "The message is not in the network's envelope",
        "message_unsupported": "The message is none of those that we read",
        "version_unsupported": "The message has another version than the network's",
        "header_mismatch": "The header and the message do not agree",
        "element_missing": "The message lacks something at the end of this element",
        "element_unexpected": "Something is missing before this element, or it may not stand there",
        "value_too_long": "A value is longer than it may be",
        "value_unknown": "A value is none of those that may stand there",
        "value_malformed": "A value has not the form that it must have",
        "amount_malformed": "An amount is no positive number of dollars and cents",
        "amount_decimals": "An amount has more than two decimals",
        "amounts_differ": "Two amounts of the message differ that have to be the same",
        "currency_unsupported": "An amount is not in US dollars",
        "moment_malformed": "A date or a time cannot be read",
    }
)
_WHAT_TO_DO = "ask the sender for a corrected message"


class Unreadable(Exception):
    """The message cannot be used. `fault` is one of SENTENCES; `where` the path of an element.

    Neither holds anything that the message says.
    """

    def __init__(self, fault: str, where: str = "") -> None:
        super().__init__(fault, where)
        self.fault = fault
        self.where = where

    def __str__(self) -> str:
        place = f" ({self.where})" if self.where else ""
        return f"{SENTENCES[self.fault]}{place}: {_WHAT_TO_DO}."
