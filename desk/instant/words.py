"""Conversations, messages and faults of instant networks in words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from desk.entries.page import meaning
from networks.instant.iso.faults import SENTENCES as UNREADABLE
from networks.instant.models import Conversation, Message
from networks.instant.receiving.credits import MISMATCHES
from networks.instant.receiving.faults import SENTENCES as FAULTS
from networks.instant.states import ConversationStatus, Direction, MessageStatus

C, M = ConversationStatus, MessageStatus

TONES: Mapping[str, str] = MappingProxyType(
    {
        C.WAITING: "warn",
        C.SENT: "info",
        C.ACCEPTED: "info",
        C.PAYING: "info",
        C.ANSWERING: "info",
        C.SETTLED: "info",
        C.COMING_BACK: "bad",
        C.FINAL: "good",
        C.REJECTED: "bad",
        C.EXPIRED: "neutral",
        C.WITHDRAWN: "neutral",
        C.RETURNED: "warn",
    }
)
MESSAGE_TONES: Mapping[str, str] = MappingProxyType(
    {
        M.TO_SEND: "info",
        M.SENT: "info",
        M.SILENT: "warn",
        M.NOT_TAKEN: "bad",
        M.ANSWERED: "good",
        M.RECEIVED: "info",
        M.APPLIED: "good",
        M.FAULTY: "bad",
    }
)
NAMES: Mapping[str, str] = MappingProxyType(
    {
        "pain.013": "Request for payment",
        "pain.014": "Answer to a request for payment",
        "pacs.008": "Credit transfer",
        "pacs.002": "Status report",
        "pacs.004": "Return of a credit transfer",
        "pacs.028": "Question what became of a payment",
        "camt.056": "Request for a return of funds",
        "camt.029": "Answer to a request for a return of funds",
        "admi.002": "Refusal of a message",
    }
)
# What reports and answers say.
SAID: Mapping[str, str] = MappingProxyType(
    {
        "ACTC": "accepted",
        "ACSC": "settled",
        "ACCC": "settled and posted",
        "ACWP": "accepted, to be posted later",
        "RCVD": "received",
        "PRES": "presented to the payer",
        "PDNG": "pending",
        "BLCK": "blocked",
        "RJCT": "rejected",
        "IPAY": "the money is given back",
        "RJCR": "the money is not given back",
    }
)
# Why a person has to look at a conversation, and what to do then.
_WHOSE = (
    "Find out whose money it is. Once the day's statement is here, say in Suspense what it was. It"
    " goes back if the sender's bank asks for it. Then resolve it"
)
_ASK = "Ask the network what became of it, then resolve it"
REVIEWS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        **{code: (words, _WHOSE) for code, words in MISMATCHES.items()},
        "silent": (
            "The network does not answer",
            "Call the operator. We go on asking: nothing is paid twice",
        ),
        "give_back_rejected": (
            "The money that we give back was refused",
            "Ask the sender's bank why, and agree on another way",
        ),
        "answer_not_taken": ("The network did not take our answer", _ASK),
        "not_advised": ("The network does not say whether money to us settled", _ASK),
        "answer_rejected": ("The network rejected our answer", _ASK),
        "message_refused": ("The network could not read a message of ours", _ASK),
        "contradicted": ("The network contradicts what it said before", _ASK),
    }
)


def review(code: str) -> str:
    """Why a person has to look; empty without a code."""
    return REVIEWS[code][0] if code in REVIEWS else code.replace("_", " ").capitalize()


def review_to_do(code: str) -> str:
    return REVIEWS[code][1] if code in REVIEWS else "Look at it, then resolve it"


def name(message: Message) -> str:
    """`Credit transfer (pacs.008)`."""
    known = NAMES.get(message.name)
    if known:
        return f"{known} ({message.name})"
    return message.name or "Unreadable message"


def said(message: Message) -> str:
    """`rejected, AC03: Invalid account number`; empty for a message that says no status."""
    status, _, code = message.said.partition(" ")
    words = SAID.get(status, status)
    return ", ".join(filter(None, (words, meaning(code) if code else "")))


def way(message: Message) -> str:
    return "From us" if message.direction == Direction.OUT else "To us"


def fault(message: Message) -> str:
    """What is wrong with a message, or with handing it over; empty where nothing is."""
    known = FAULTS.get(message.fault) or UNREADABLE.get(message.fault)
    detail = message.fault_detail.rstrip(".")
    if known and not detail.startswith(known):
        detail = f"{known}: {detail}" if detail else known
    return detail or meaning(message.fault)


def is_unreadable(message: Message) -> bool:
    """Whether its elements may stand anywhere."""
    return message.fault in UNREADABLE


def other_side(row: Conversation) -> str:
    """`Acme, 011000015 ··0200`."""
    account = f"{row.routing_number} ··{row.account_last4}"
    return f"{row.name}, {account}" if row.name else account
