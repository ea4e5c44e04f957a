"""Messages come in: none is lost, and none keeps another out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from funding.services.network_events import INBOX
from networks import registry
from networks.base import EventKind
from networks.inbox import arrivals, tasks
from networks.inbox.models import InboundEvent, InboundOutcome
from tests.builders import NOW
from tests.funding.builders import top_up
from tests.networks.scripted import ScriptedNetwork, message


class DeafNetwork(ScriptedNetwork):
    """Every call to it fails in a way nobody foresaw."""

    name = "deaf"

    def poll(self, *, now, limit, id_prefix=""):
        raise RuntimeError("a file we cannot read")


@pytest.fixture
def connect(monkeypatch):
    def _connect(*networks):
        monkeypatch.setattr(registry, "_NETWORKS", dict(enumerate(networks)))

    return _connect


@pytest.fixture
def funding(acme):
    return top_up(acme)


def collect(network):
    return arrivals.collect(network=network, id_prefix=INBOX.id_prefix, now=NOW)


def test_a_network_that_fails_does_not_stop_the_others(funding, connect):
    connect(DeafNetwork(), ScriptedNetwork(message(funding, EventKind.ACCEPTED)))

    assert arrivals.collect_all(id_prefix="ftx_", now=NOW) == 1

    assert InboundEvent.objects.get().event_id == "nev-1"


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        ({"code": "R01-and-more"}, {"code": "R01-and-"}),
        ({"reference": "x" * 65}, {"reference": "x" * 64}),
        ({"reason": "no\0money"}, {"reason": "nomoney"}),
        ({"amount": 2**63}, {"amount": 0}),
        ({"kind": "corrected"}, {"kind": "corrected"}),
        ({"currency": "DOLLAR"}, {"currency": "DOL"}),
    ],
)
def test_a_message_that_does_not_fit_goes_to_a_person_with_all_it_said(funding, changes, kept):
    odd = replace(message(funding, EventKind.ACCEPTED, id="odd"), **changes)
    network = ScriptedNetwork(odd, message(funding, EventKind.ACCEPTED, id="fine"))

    assert collect(network) == 2

    row = InboundEvent.objects.get(event_id="odd")
    assert (row.outcome, row.note) == (
        InboundOutcome.REVIEW,
        f"does not fit: {next(iter(changes))}",
    )
    assert {name: getattr(row, name) for name in kept} == kept
    assert '"instruction_id": "' + funding.pk in row.original
    assert InboundEvent.objects.get(event_id="fine").outcome == InboundOutcome.NEW
    assert network.acknowledged == ["odd", "fine"]


def test_ids_that_are_too_long_stay_apart_and_are_stored_once(funding):
    network = ScriptedNetwork(
        message(funding, EventKind.ACCEPTED, id="a" * 80),
        message(funding, EventKind.ACCEPTED, id="a" * 81),
    )

    collect(network)
    collect(network)

    assert InboundEvent.objects.filter(note="does not fit: event_id").count() == 2


def test_a_message_that_cannot_be_stored_at_all_is_not_acknowledged(funding):
    network = ScriptedNetwork(
        message(funding, EventKind.ACCEPTED, id="undated", occurred_at=None),
        message(funding, EventKind.ACCEPTED, id="fine"),
    )

    assert collect(network) == 1

    assert network.acknowledged == ["fine"]
    assert InboundEvent.objects.get().event_id == "fine"


@pytest.mark.parametrize("instruction_id", ["", "NACHA-77"])
def test_what_matches_nothing_we_sent_is_kept_for_a_person(funding, connect, instruction_id):
    connect(ScriptedNetwork(message(funding, EventKind.RETURNED, instruction_id=instruction_id)))

    tasks.collect_unmatched()

    row = InboundEvent.objects.get()
    assert (row.outcome, row.note) == (InboundOutcome.REVIEW, "matches nothing we sent")
