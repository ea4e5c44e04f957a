"""Messages come in: none is lost, and none keeps another out."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from common.days import EASTERN
from funding.transfer import FUNDING
from networks.base import EventKind
from tests.builders import NOW
from tests.database import owner
from tests.funding.builders import top_up
from tests.networks.scripted import ScriptedNetwork, message
from transfers import submission
from transfers.inbox import arrivals, messages, tasks
from transfers.inbox.models import InboundEvent, InboundOutcome


class DeafNetwork(ScriptedNetwork):
    """Every call to it fails in a way nobody foresaw."""

    name = "deaf"

    def poll(self, *, now, limit, id_prefix=""):
        raise RuntimeError("a file we cannot read")


@pytest.fixture
def funding(acme):
    return top_up(acme)


def collect(network):
    return arrivals.collect(network=network, id_prefix=FUNDING.id_prefix, now=NOW)


def test_a_network_that_fails_does_not_stop_the_others(funding, connect):
    connect(DeafNetwork())
    connect(ScriptedNetwork(message(funding, EventKind.ACCEPTED)))

    assert arrivals.collect_all(id_prefix="ftx_", now=NOW) == 1

    assert InboundEvent.objects.get().event_id == "nev-1"


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        ({"code": "R01-and-more"}, {"code": "R01-and-more"}),
        ({"code": "R01-and-very-much-more"}, {"code": "R01-and-very-muc"}),
        ({"reference": "x" * 65}, {"reference": "x" * 64}),
        ({"reason": "no\0money"}, {"reason": "nomoney"}),
        ({"amount": 2**63}, {"amount": 0}),
        ({"kind": "regretted"}, {"kind": "regretted"}),
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


class TestAnIdThatWasUsedBefore:
    @pytest.fixture
    def first(self, funding):
        first = message(funding, EventKind.ACCEPTED, id="one", reason="fine")
        collect(ScriptedNetwork(first))
        return first

    @pytest.mark.parametrize(
        "changes",
        [
            {"kind": EventKind.FINAL},
            {"amount": 999},
            {"currency": "EUR"},
            {"instruction_id": "ftx_00000000000000000000000000"},
            {"code": "R01"},
            {"reason": "not fine"},
            {"reference": "r-2"},
            {"occurred_at": NOW + timedelta(seconds=1)},
            {"reason": "x" * 300 + "beyond what the column holds"},
        ],
    )
    def test_with_another_message_goes_to_a_person_once(self, funding, first, changes):
        other = replace(first, **changes)
        network = ScriptedNetwork(other)

        collect(network)
        collect(network)

        assert network.acknowledged == ["one", "one"]
        kept = InboundEvent.objects.get(event_id="one")
        assert (kept.outcome, kept.kind) == (InboundOutcome.NEW, "accepted")
        row = InboundEvent.objects.exclude(pk=kept.pk).get()
        assert row.event_id.startswith("one#")
        assert (row.outcome, row.note) == (InboundOutcome.REVIEW, arrivals.REUSED_ID)
        assert f'"instruction_id": "{other.instruction_id}"' in row.original
        assert row.kind == other.kind

    def test_with_the_same_message_is_a_repeat(self, funding, first):
        eastern = first.occurred_at.astimezone(EASTERN)

        collect(ScriptedNetwork(first, replace(first, occurred_at=eastern)))

        assert InboundEvent.objects.get().event_id == "one"

    def test_within_one_batch_is_seen_as_well(self, funding):
        accepted = message(funding, EventKind.ACCEPTED, id="one")

        collect(ScriptedNetwork(accepted, replace(accepted, kind=EventKind.FINAL), accepted))

        outcomes = InboundEvent.objects.order_by("pk").values_list("kind", "outcome")
        assert list(outcomes) == [("accepted", "new"), ("final", "review")]

    def test_is_another_networks_own_affair(self, funding, first):
        collect(ScriptedNetwork(replace(first, network="elsewhere", kind=EventKind.FINAL)))

        assert set(InboundEvent.objects.values_list("event_id", "outcome")) == {("one", "new")}

    def test_is_known_for_a_message_of_an_older_release(self, funding, first):
        with owner.as_superuser(triggers=False):
            InboundEvent.objects.update(digest="")

        collect(ScriptedNetwork(first, replace(first, amount=999)))

        assert InboundEvent.objects.filter(note=arrivals.REUSED_ID).count() == 1

    def test_never_moves_anything_by_itself(self, funding, first):
        """A settlement under the id of the acceptance that was applied."""
        submission.submit_due(FUNDING, now=NOW)
        assert messages.apply_new(FUNDING, now=NOW) == 1

        collect(ScriptedNetwork(replace(first, kind=EventKind.FINAL)))

        assert messages.apply_new(FUNDING, now=NOW) == 0
        funding.refresh_from_db()
        assert funding.status == "in_transit"


class TestTwoThatCollectAtOnce:
    def test_do_not_read_the_same_page(self, funding, connect):
        class Asked(ScriptedNetwork):
            """While it is asked, another worker's run comes by."""

            calls = 0

            def poll(self, *, now, limit, id_prefix=""):
                self.calls += 1
                if self.calls == 1:
                    others.append(arrivals.collect_alone(id_prefix=id_prefix, now=now))
                return super().poll(now=now, limit=limit, id_prefix=id_prefix)

        others: list[int] = []
        network = Asked(message(funding, EventKind.ACCEPTED))
        connect(network)

        came = [arrivals.collect_alone(id_prefix="ftx_", now=NOW) for _ in range(2)]

        assert (others, came, network.calls) == ([0], [1, 1], 2)

    def test_may_where_each_asks_about_its_own_ids(self, funding, connect):
        class Asked(ScriptedNetwork):
            def poll(self, *, now, limit, id_prefix=""):
                if id_prefix == "ftx_":
                    others.append(arrivals.collect_alone(id_prefix="pay_", now=now))
                return super().poll(now=now, limit=limit, id_prefix=id_prefix)

        others: list[int] = []
        connect(Asked(message(funding, EventKind.ACCEPTED)))

        arrivals.collect_alone(id_prefix="ftx_", now=NOW)

        assert others == [1]

    def test_go_on_after_one_broke(self, funding, connect):
        connect(DeafNetwork())

        assert [arrivals.collect_alone(id_prefix="ftx_", now=NOW) for _ in range(2)] == [0, 0]
        connect(ScriptedNetwork(message(funding, EventKind.ACCEPTED)))
        assert arrivals.collect_alone(id_prefix="ftx_", now=NOW) == 1
