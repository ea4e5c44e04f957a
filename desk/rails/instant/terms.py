"""The terms of an instant rail in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from desk.rails.kinds import CENTS, CENTS_OR_NEVER, COUNT, SECONDS, TEXT, YES_NO, choice
from desk.rails.wording import LinesOfSection, Section, Term, Wording
from networks.instant.terms import RailTerms, TransportKind

PINS = ("connection__pin_1", "connection__pin_2")
ACCOUNT_SECTION = "Our account there"
_PIN_HELP = "SHA-256 of its public key (SubjectPublicKeyInfo), 64 hex digits."

WORDING = Wording(
    (
        Section(
            "Who we are to the network",
            (
                Term("participant", "Participant", TEXT, "RTP: 11 characters. FedNow: 9 digits."),
                Term("routing_number", "Routing number of our bank", TEXT),
                Term("creditor_name", "Our name", TEXT, "Payers and payees read it."),
            ),
        ),
        Section(
            "What is sent",
            (
                Term("active", "Takes new orders", YES_NO, "What is on its way goes on without."),
                Term("request_max", "A request for payment, at most", CENTS, "Dollars."),
                Term("payment_max", "A payment, at most", CENTS, "Dollars."),
                Term(
                    "tries_unknown",
                    "Unanswered tries until a person is told",
                    COUNT,
                    "Asking goes on all the same.",
                ),
            ),
        ),
        Section(
            ACCOUNT_SECTION,
            (
                Term(
                    "settlement_account", "Settlement account", TEXT, "A note: nothing goes by it."
                ),
                Term(
                    "statements",
                    "Files of statements",
                    TEXT,
                    "As /srv/bank/rtp_*.xml, if they are put there. They are removed once kept.",
                ),
                Term(
                    "keeps_position",
                    "Nothing leaves beyond the position",
                    YES_NO,
                    "The position is the money that lies at the network.",
                ),
                Term(
                    "position_warn_below",
                    "Warn of a position below",
                    CENTS_OR_NEVER,
                    "Dollars. $0.00: never.",
                ),
            ),
        ),
        Section(
            "Connection",
            (
                Term(
                    "connection__kind",
                    "How",
                    choice(
                        {
                            str(TransportKind.HTTPS): "HTTPS, with our certificate",
                            str(TransportKind.FOLDER): "A folder of files",
                        }
                    ),
                ),
                Term("connection__base_url", "Address", TEXT, "https://bank.example/rtp"),
                Term(PINS[0], "Server's key in use", TEXT, _PIN_HELP),
                Term(PINS[1], "Server's next key", TEXT, "Before the operator changes its key."),
                Term("connection__folder", "Folder", TEXT, "Its full path, where files are used."),
                Term("connection__timeout", "Time without an answer", SECONDS, "1 to 20 seconds."),
            ),
        ),
    ),
    PINS,
    "connection__pins",
)


def complete(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Terms of an earlier day with those that did not exist then."""
    defaults = RailTerms.defaults()
    connection = {**defaults["connection"], **stored.get("connection", {})}
    return {**defaults, **stored, "connection": connection}


def sections(stored: Mapping[str, Any]) -> list[LinesOfSection]:
    """All terms, but for what the way that is used does not need."""
    terms = complete(stored)
    is_folder = terms["connection"]["kind"] == TransportKind.FOLDER
    https = ("connection__base_url", *PINS, "connection__timeout")
    return WORDING.in_words(terms, left_out=https if is_folder else ("connection__folder",))
