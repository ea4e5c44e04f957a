"""Terms of a rail: every field that no file could be made by is named."""

from __future__ import annotations

import json
from datetime import time, timedelta
from typing import Any

import pytest

from networks.ach.terms import (
    AckFormat,
    Connection,
    Cutoff,
    Folders,
    InvalidTerms,
    Offset,
    RailTerms,
)
from tests.networks.ach.builders import TERMS

SERVER: dict[str, Any] = {
    "host": "sftp.bank.example",
    "user": "ballast",
    "host_keys": ("ssh-ed25519 AAAA",),
}


def problems(**changes):
    with pytest.raises(InvalidTerms) as refusal:
        RailTerms(**{**TERMS, **changes})
    return set(refusal.value.problems)


class TestStored:
    def test_are_read_as_they_were(self):
        terms = RailTerms(
            **TERMS,
            offset=Offset.BALANCED,
            offset_routing="099900001",
            ack_format=AckFormat.NONE,
            lead=timedelta(minutes=20),
            connection=Connection(
                **SERVER, folders=Folders(ack="in/ack"), connect_timeout=timedelta(seconds=3)
            ),
        )

        stored = json.loads(json.dumps(terms.as_json()))

        assert RailTerms.parse(stored) == terms
        assert stored["cutoffs"][0] == {"at": "10:00", "same_day": True}

    def test_without_a_field_or_with_a_strange_one_are_refused(self):
        stored = RailTerms(**TERMS).as_json()
        del stored["company_id"]

        with pytest.raises(InvalidTerms) as missing:
            RailTerms.parse(stored)
        with pytest.raises(InvalidTerms) as strange:
            RailTerms.parse({**stored, "colour": "red"})

        assert missing.value.problems == {"company_id": "is missing"}
        assert set(strange.value.problems) == {"colour"}

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("lead", "soon"),
            ("cutoffs", [{"at": "25:00"}]),
            ("cutoffs", 7),
            ("offset", "half"),
            ("connection", {"colour": "red"}),
        ],
    )
    def test_that_cannot_be_read_name_the_field(self, field, value):
        stored = RailTerms(**TERMS).as_json() | {field: value}

        with pytest.raises(InvalidTerms) as refusal:
            RailTerms.parse(stored)

        assert set(refusal.value.problems) == {field}


class TestRefused:
    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("odfi_routing", "123456789"),
            ("immediate_destination", "099900001"),
            ("immediate_destination", " 123456789"),
            ("immediate_origin", "12345"),
            ("immediate_origin_name", "lower case"),
            ("immediate_destination_name", "X" * 24),
            ("company_id", "12-34"),
            ("company_id", "0000"),
            ("company_name", "00"),
            ("company_name", "A NAME THAT IS TOO LONG"),
            ("company_name", " "),
            ("descriptions", {"topup": "TOPUP"}),
            ("descriptions", {"topup": "REVERSAL", "payment": "PAYMENT"}),
            ("descriptions", {"topup": "ELEVEN CHARS", "payment": "PAYMENT"}),
            ("secs", ()),
            ("secs", ("CCD", "IAT")),
            ("cutoffs", ()),
            ("cutoffs", (Cutoff(at=time(14), same_day=True), Cutoff(at=time(10), same_day=True))),
            ("cutoffs", (Cutoff(at=time(10)), Cutoff(at=time(14), same_day=True))),
            ("cutoffs", (Cutoff(at=time(10, 0, 30), same_day=True),)),
            ("lead", timedelta(hours=5)),
            ("same_day_max", 0),
            ("entry_max", 0),
            ("entry_max", 10_000_000_000),
            ("entry_max", 1.5),
            ("file_max", 1_000_000_000_000),
            ("file_max", 5),
            ("entries_per_batch_max", 1_000_000),
            ("auto_release_below", -1),
            ("offset", Offset.BALANCED),
            ("file_name_pattern", "{date}{time}.ach"),
            ("file_name_pattern", "{date}{time}{modifier}/x"),
            ("file_name_pattern", "{date}{time}{modifier}{secret}"),
            ("ack_within", timedelta(seconds=5)),
            ("active", "yes"),
        ],
    )
    def test_field(self, field, value):
        expected = "offset_routing" if field == "offset" else field

        assert expected in problems(**{field: value})

    @pytest.mark.parametrize(
        "line",
        [
            {"host": "two words"},
            {"user": "", "host": "x"},
            {"port": 0},
            {"host_keys": ()},
            {"host_keys": ("a", "b", "c")},
            {"folders": Folders(ack="a b")},
            {"folders": Folders(ack="outbound")},
            {"archive": "../up"},
            {"idle_timeout": timedelta(0)},
        ],
    )
    def test_connection(self, line):
        assert problems(connection=Connection(**{**SERVER, **line})) == {"connection"}

    def test_a_lead_that_begins_on_the_day_before(self):
        early = (Cutoff(at=time(2), same_day=True),)

        assert problems(cutoffs=early, lead=timedelta(hours=3)) == {"lead"}
