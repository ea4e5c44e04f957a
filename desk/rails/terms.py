"""The terms of a rail to a bank in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from desk.rails.kinds import (
    CENTS,
    CENTS_OR_NEVER,
    COUNT,
    CUTOFFS,
    HOST_KEY,
    MINUTES,
    PARTY,
    SECONDS,
    TEXT,
    YES_NO,
    Kind,
    choice,
    several,
)
from desk.rails.wording import LinesOfSection, Section, Term, Wording
from networks.ach.terms import EXCUSABLE, SECS, AckFormat, Offset

HOST_KEYS = ("connection__host_key_1", "connection__host_key_2")
_UNUSED = {str(AckFormat.JSONL): "accept_after", str(AckFormat.NONE): "ack_within"}

SECTIONS = (
    Section(
        "Who we are to the bank",
        (
            Term("odfi_routing", "Routing number of the bank (ODFI)", TEXT),
            Term("immediate_destination", "Immediate destination", PARTY, "Whom the file is for."),
            Term("immediate_destination_name", "Its name", TEXT),
            Term("immediate_origin", "Immediate origin", PARTY, "Who sends the file."),
            Term("immediate_origin_name", "Our name", TEXT),
            Term("company_id", "Company id", TEXT),
            Term("company_name", "Company name", TEXT, "Account holders read it."),
            Term("descriptions__topup", "Description of money in", TEXT),
            Term("descriptions__payment", "Description of payments", TEXT),
        ),
    ),
    Section(
        "What is sent",
        (
            Term("active", "Takes new entries", YES_NO),
            Term("secs", "Entry classes (SEC)", several(SECS)),
            Term("prenotes", "Prenotes", YES_NO, "A test entry before the first of an account."),
            Term(
                "rates_judged_from",
                "Return rates count from",
                COUNT,
                "Debits of 60 days. Fewer only warn.",
            ),
            Term("apply_changes", "Apply changes by itself", YES_NO, "Notifications of change."),
        ),
    ),
    Section(
        "When",
        (
            Term("cutoffs", "Cut-offs, Eastern", CUTOFFS, "One a line: 10:30, or 10:30 same day."),
            Term(
                "lead", "Frozen before a cut-off", MINUTES, "Minutes. Entries then get into files."
            ),
        ),
    ),
    Section(
        "How much",
        (
            Term("entry_max", "An entry, at most", CENTS),
            Term("same_day_max", "A same-day entry, at most", CENTS),
            Term("file_max", "A side of a file, at most", CENTS),
            Term("day_max", "A day, at most", CENTS),
            Term("entries_per_batch_max", "Entries of a batch, at most", COUNT),
            Term("entries_per_file_max", "Entries of a file, at most", COUNT),
        ),
    ),
    Section(
        "Release",
        (
            Term("dual_release", "Two people release", YES_NO),
            Term("auto_release_below", "Released by itself below", CENTS_OR_NEVER, "$0.00: never."),
        ),
    ),
    Section(
        "Our account at the bank",
        (
            Term(
                "offset",
                "Offset",
                choice(
                    {
                        str(Offset.NONE): "None: the bank makes our side",
                        str(Offset.BALANCED): "Balanced: each file has our side",
                    }
                ),
            ),
            Term("offset_routing", "Routing number of our account", TEXT),
            Term("settlement_account", "Settlement account", TEXT, "A note: nothing goes by it."),
        ),
    ),
    Section(
        "Acknowledgments",
        (
            Term(
                "ack_format",
                "What the bank answers",
                choice(
                    {
                        str(AckFormat.JSONL): "An acknowledgment of each file",
                        str(AckFormat.NONE): "Nothing: accepted when time is over",
                    }
                ),
            ),
            Term("ack_within", "An acknowledgment comes within", MINUTES, "Minutes."),
            Term(
                "accept_after",
                "Silence is consent after",
                MINUTES,
                "Minutes, if the bank says nothing.",
            ),
            Term("excused_faults", "Faults let pass in its files", several(sorted(EXCUSABLE))),
            Term("file_name_pattern", "File name", TEXT, "With {date}, {time}, {modifier}."),
        ),
    ),
    Section(
        "Connection",
        (
            Term("connection__host", "Host", TEXT),
            Term("connection__port", "Port", Kind(COUNT.field, str)),
            Term("connection__user", "User", TEXT),
            Term(HOST_KEYS[0], "Host key in use", HOST_KEY, "A line as ssh-ed25519 AAAA…"),
            Term(HOST_KEYS[1], "Next host key", HOST_KEY, "Before the bank changes its key."),
            Term("connection__folders__outbound", "Folder for our files", TEXT),
            Term("connection__folders__ack", "Folder of acknowledgments", TEXT),
            Term("connection__folders__inbound", "Folder of returns and changes", TEXT),
            Term("connection__folders__statements", "Folder of statements", TEXT),
            Term(
                "connection__archive", "Archive", TEXT, "Where the bank moves files that it took."
            ),
            Term("connection__connect_timeout", "Time to connect", SECONDS, "Seconds."),
            Term("connection__idle_timeout", "Time without an answer", SECONDS, "Seconds."),
        ),
    ),
)
WORDING = Wording(SECTIONS, HOST_KEYS, "connection__host_keys")


def sections(terms: Mapping[str, Any]) -> list[LinesOfSection]:
    """All terms in words, but for the keys, which have a place of their own, and for the time
    that does not count at a bank that answers in this way."""
    unused = _UNUSED.get(terms["ack_format"], "")
    return WORDING.in_words(terms, left_out=(*HOST_KEYS, unused))
