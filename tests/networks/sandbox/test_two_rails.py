"""The sandbox has a rail for instant payments beside the one for everything else: each keeps books
of its own, also about the same payment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from networks import registry
from networks.base import Accepted, Method, Withdrawal
from networks.sandbox import control
from networks.sandbox.bank import INSTANT_NAME, NAME, SandboxBank
from networks.sandbox.models import SandboxEvent, SandboxInstruction
from payments.models import Payment, PaymentMethod
from tests.networks.asking import submit
from tests.networks.sandbox.builders import instruction
from tests.payments.builders import fund, pay, run_due

NOW = datetime(2026, 11, 20, 17, 0, tzinfo=UTC)
LATER = NOW + timedelta(days=365)

instant, other = SandboxBank(INSTANT_NAME), SandboxBank(NAME)
pytestmark = pytest.mark.django_db


def told(bank):
    return [(event.network, event.kind) for event in bank.poll(now=LATER, limit=100)]


@pytest.fixture
def both():
    """One payment under the same id on both: refused by the first, so sent by the second."""
    submit(instant, instruction("51001", id="pay_1", method=Method.RTP_CREDIT), now=NOW)
    submit(other, instruction("51001", id="pay_1", method=Method.ACH_CREDIT), now=NOW)


@pytest.mark.parametrize(
    ("method", "name"),
    [
        (Method.RTP_CREDIT, INSTANT_NAME),
        (Method.RTP_REQUEST, NAME),
        (Method.ACH_CREDIT, NAME),
        (Method.ACH_DEBIT, NAME),
    ],
)
def test_routes_lead_instant_payments_to_their_own(method, name):
    network = registry.for_method("sandbox", method)

    assert network is registry.get(name)
    assert network.name == name


def test_one_id_is_two_instructions(both):
    rows = SandboxInstruction.objects.filter(external_id="pay_1").order_by("network")

    assert [(row.network, row.method) for row in rows] == [
        (NAME, "ach_credit"),
        (INSTANT_NAME, "rtp_credit"),
    ]
    first, second = instant.find("pay_1"), other.find("pay_1")
    assert isinstance(first, Accepted)
    assert isinstance(second, Accepted)
    assert first.reference != second.reference


def test_each_tells_its_own_in_its_own_name(both):
    assert told(instant) == [(INSTANT_NAME, "rejected")]
    assert told(other) == [(NAME, "accepted"), (NAME, "final")]


def test_one_acknowledges_nothing_of_the_other(both):
    everything = [event.id for bank in (instant, other) for event in bank.poll(now=LATER, limit=9)]

    instant.acknowledge(everything)

    assert told(instant) == []
    assert told(other) == [(NAME, "accepted"), (NAME, "final")]


def test_records_are_of_one_rail(both):
    for bank in (instant, other):
        bank.acknowledge(event.id for event in bank.poll(now=LATER, limit=9))

    assert [row.is_final for row in instant.records(["pay_1"])] == [False]
    assert [row.is_final for row in other.records(["pay_1"])] == [True]


def test_one_withdraws_nothing_of_the_other(settings):
    settings.SANDBOX_PACE = "banking_days"
    submit(instant, instruction(id="pay_1", method=Method.RTP_CREDIT), now=NOW)
    submit(other, instruction(id="pay_1", method=Method.ACH_CREDIT), now=NOW)

    assert instant.withdraw("pay_1", now=NOW) is Withdrawal.WITHDRAWN
    assert told(other) == [(NAME, "accepted"), (NAME, "final")]
    assert told(instant) == [(INSTANT_NAME, "rejected")]
    assert other.withdraw("pay_2", now=NOW) is Withdrawal.TOO_LATE


def test_a_person_moves_the_one_of_a_rail(both):
    control.return_entry("pay_1", network=NAME, now=LATER)

    with pytest.raises(control.ControlRefused, match="no returns"):
        control.return_entry("pay_1", network=INSTANT_NAME, now=LATER)
    of_instant = SandboxEvent.objects.filter(instruction__network=INSTANT_NAME)
    assert list(of_instant.values_list("kind", flat=True)) == ["rejected"]


def test_payments_of_a_tenant_go_by_both(acme):
    fund(acme, 50_000)
    paid = [pay(acme, 10_000, method=way) for way in (PaymentMethod.RTP, PaymentMethod.ACH_CREDIT)]
    run_due(now=LATER)

    rows = Payment.objects.in_bulk([row.pk for row in paid])
    assert [(rows[row.pk].network, rows[row.pk].status) for row in paid] == [
        (INSTANT_NAME, "completed"),
        (NAME, "completed"),
    ]
