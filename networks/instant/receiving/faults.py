"""What is wrong with a message that can be read, and yet changes nothing.

Faults of messages that cannot be read are the codec's (`networks.instant.iso.faults`).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from types import MappingProxyType

SENTENCES: Mapping[str, str] = MappingProxyType(
    {
        "answers_nothing": "It is about a message that we neither sent nor got",
        "of_another_rail": "It is about a message of another rail",
        "ids_disagree": "The ids in it are of different messages",
        "amounts_disagree": "Its amount is not that of the payment",
        "id_reused": "Another message came under this id",
        "clock_ahead": "It was made at a time that is still to come",
        "not_for_us": "It is addressed to somebody else",
        "too_late": "What it is about has ended",
        "contradicts": "It contradicts what the network said before",
        "status_unknown": "Its status is none that we know",
        "unexpected": "It is a message that we do not expect from a network",
        "not_applied": "It could not be applied: look at the log",
    }
)


class Fault(Exception):
    """A message changes nothing, for a reason that people can look up. `detail` says more; a person
    has to look at the conversation if one is given. `settled_on`: the day on which its money
    settled, as the message says."""

    def __init__(
        self,
        code: str,
        detail: str = "",
        *,
        conversation_id: str = "",
        settled_on: date | None = None,
    ) -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = f"{SENTENCES[code]}: {detail}" if detail else SENTENCES[code]
        self.conversation_id = conversation_id
        self.settled_on = settled_on
