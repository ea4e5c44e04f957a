"""Terms of a rail: every field that no file could be made by is named."""

from __future__ import annotations

import json
from datetime import time, timedelta
from typing import Any

import asyncssh
import pytest

from networks.ach import host_keys
from networks.ach.connection_terms import Connection, Folders
from networks.ach.sftp import keys
from networks.ach.terms import (
    AckFormat,
    Cutoff,
    InvalidTerms,
    Offset,
    RailTerms,
)
from tests.networks.ach.builders import TERMS

SERVER: dict[str, Any] = {
    "host": "sftp.bank.example",
    "user": "ballast",
    "host_keys": (keys.generate_client_key().public.text,),
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
            ("entries_per_file_max", 1_000_001),  # two files would have the same traces
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
            {"archive": "/home/../../etc"},
            {"folders": Folders(outbound="../outbound")},
            {"folders": Folders(ack="ack/../../keys")},
            {"folders": Folders(inbound="in\0bound")},
            {"folders": Folders(inbound="")},
            {"folders": Folders(statements="/")},
            {"folders": Folders(statements="~/books")},
            {"folders": Folders(statements="books//new")},
            {"folders": Folders(statements="books\n")},
            {"idle_timeout": timedelta(0)},
        ],
    )
    def test_connection(self, line):
        assert problems(connection=Connection(**{**SERVER, **line})) == {"connection"}

    def test_a_lead_that_begins_on_the_day_before(self):
        early = (Cutoff(at=time(2), same_day=True),)

        assert problems(cutoffs=early, lead=timedelta(hours=3)) == {"lead"}


def line_of(key):
    return key.export_public_key().decode()


class TestHostKeys:
    @pytest.mark.parametrize(
        ("kind", "options", "said"),
        [
            ("ssh-rsa", {"key_size": 2048}, "an RSA host key of 2048 bits is refused"),
            ("ecdsa-sha2-nistp256", {}, "of the kind 'ecdsa-sha2-nistp256' is refused"),
            ("ssh-dss", {}, "of the kind 'ssh-dss' is refused"),
            ("ssh-ed448", {}, "of the kind 'ssh-ed448' is refused"),
        ],
    )
    def test_that_are_weak_are_refused_by_name(self, kind, options, said):
        key = line_of(asyncssh.generate_private_key(kind, **options))

        with pytest.raises(InvalidTerms) as refusal:
            RailTerms(**TERMS, connection=Connection(**{**SERVER, "host_keys": (key,)}))

        problem = refusal.value.problems["connection"]
        assert said in problem
        assert "ask the bank for its ed25519 key, or an RSA key of at least 3072 bits" in problem

    @pytest.mark.parametrize(
        ("kind", "options"), [("ssh-ed25519", {}), ("ssh-rsa", {"key_size": 3072})]
    )
    def test_that_are_strong_are_taken_and_not_by_half(self, kind, options):
        key = line_of(asyncssh.generate_private_key(kind, **options))

        assert host_keys.problem(key) == ""
        assert host_keys.problem(f"sftp.bank.example {key}") == ""
        words = key.split()
        assert host_keys.problem(f"{words[0]} {words[1][:-8]}") == host_keys.DAMAGED
        assert host_keys.problem(f"{words[0]} {words[1]}AAAA") == host_keys.DAMAGED

    @pytest.mark.parametrize("line", ["", "ssh-ed25519", "nothing", "a b c", None, "\0", "é AAAA"])
    def test_that_are_none_are_refused(self, line):
        assert host_keys.problem(line) != ""
