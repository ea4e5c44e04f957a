"""Sending the two deposits and hearing what became of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import cast

import pytest

from funding.models import FundingSource, SourceVerification
from funding.services import deposits, sources, verifications
from funding.tasks.verification import process_verifications
from networks import registry
from networks.base import EventKind, NetworkEvent, PaymentNetwork
from networks.rails.models import Route
from networks.sandbox.models import SandboxInstruction
from tenants.actors import SYSTEM
from tenants.models import Mode
from tenants.services import accounts
from tests.builders import NOW, make_source, make_tenant, notices_of
from tests.funding.live_network import LiveNetwork, make_early_source
from transfers.inbox.models import InboundEvent


@pytest.fixture
def network(connect):
    """A live network that exists from the moment a test says so."""
    return lambda: connect(LiveNetwork(), modes=("live",))


@pytest.fixture
def globex(db):
    return make_tenant(name="Globex", mode=Mode.LIVE)


def stored(source):
    return FundingSource.objects.get(pk=source.pk)


def message(verification, kind, code=""):
    return NetworkEvent(
        id="m1",
        network="live",
        instruction_id=verification.pk,
        kind=kind,
        amount=38,
        currency="USD",
        code=code,
        occurred_at=NOW,
    )


class TestSandbox:
    def test_deposits_arrive(self, acme):
        source = make_source(acme, account_number="50001")

        deposits.process_due(now=NOW)

        verification = SourceVerification.objects.get()
        sent = SandboxInstruction.objects.get()
        assert (sent.external_id, sent.amount) == (verification.pk, 33)
        assert verification.expires_at == NOW + timedelta(days=10)
        assert stored(source).status == "pending_verification"
        assert set(InboundEvent.objects.values_list("kind", "outcome")) == {
            ("accepted", "applied"),
            ("final", "applied"),
        }

    def test_none_leave_by_a_route_that_another_process_closed(self, acme):
        make_source(acme, account_number="50001")
        routes = Route.objects.filter(mode="sandbox", method="ach_debit")
        routes.update(is_open=False)

        deposits.send_due(now=NOW)
        assert not SandboxInstruction.objects.exists()

        routes.update(is_open=True)
        deposits.send_due(now=NOW + timedelta(hours=1))
        assert SandboxInstruction.objects.exists()

    def test_deposits_are_sent_once(self, acme):
        make_source(acme, account_number="50001")

        assert deposits.send_due(now=NOW) == 1
        assert deposits.send_due(now=NOW + timedelta(days=1)) == 0
        assert SandboxInstruction.objects.get().submissions == 1

    def test_deposits_come_back(self, acme):
        source = make_source(acme, account_number="50000")

        deposits.process_due(now=NOW)

        failed = stored(source)
        assert (failed.status, failed.last_return_code) == ("verification_failed", "R03")
        assert notices_of(acme, "funding_source.updated") == [
            {
                "fundingSourceId": source.pk,
                "status": "verification_failed",
                "lastReturnCode": "R03",
            }
        ]

    def test_nothing_is_sent_to_an_account_removed_meanwhile(self, acme):
        source = make_source(acme, account_number="50001")
        sources.remove(tenant_id=acme.pk, source_id=source.pk, actor=SYSTEM, now=NOW)

        deposits.send_due(now=NOW)

        assert not SandboxInstruction.objects.exists()
        assert SourceVerification.objects.get().next_attempt_at is None

    def test_nothing_is_sent_for_a_suspended_tenant_until_its_release(self, acme):
        make_source(acme, account_number="50001")
        accounts.suspend(tenant_id=acme.pk, actor=SYSTEM, now=NOW)

        assert deposits.send_due(now=NOW) == 0
        accounts.release(tenant_id=acme.pk, actor=SYSTEM, now=NOW)
        assert deposits.send_due(now=NOW) == 1


def test_the_task_is_a_door_to_it(acme):
    source = make_source(acme, account_number="50000")
    SourceVerification.objects.update(next_attempt_at=NOW - timedelta(days=9999))

    process_verifications.apply(throw=True)

    assert stored(source).status == "verification_failed"


class TestLive:
    def test_wait_for_a_network_and_let_it_choose(self, globex, network):
        source = make_early_source(globex)
        deposits.send_due(now=NOW)
        assert SourceVerification.objects.get().amounts == []

        live = network()
        deposits.send_due(now=NOW + timedelta(hours=1))

        verification = SourceVerification.objects.get()
        assert live.sent == [(verification.pk, "000123456789", (7, 31))]
        assert verification.amounts == [7, 31]
        assert verification.expires_at == NOW + timedelta(days=10, hours=1)
        assert stored(source).status == "pending_verification"

    def test_a_proven_account_supports_what_the_network_does(self, globex, network):
        source = make_early_source(globex)
        network()
        deposits.send_due(now=NOW)

        verifications.verify(
            tenant_id=globex.pk, source_id=source.pk, amounts=(31, 7), actor=SYSTEM, now=NOW
        )

        assert stored(source).supported_methods == ["ach_debit", "rtp"]

    def test_are_sent_again_while_the_network_is_down(self, globex, network):
        live = network()
        live.outages = 2
        make_source(globex)

        for minutes in (0, 1, 5, 6):
            deposits.send_due(now=NOW + timedelta(minutes=minutes))

        verification = SourceVerification.objects.get()
        assert live.sent == [(verification.pk, "000123456789", (7, 31))]
        assert verification.expires_at == NOW + timedelta(days=10, minutes=6)

    def test_that_one_network_may_have_are_sent_by_no_other(self, globex, network, connect):
        first = network()
        make_source(globex)
        first.outages = 1
        deposits.send_due(now=NOW)

        second = LiveNetwork(name="second")
        as_before = registry.connect(cast(PaymentNetwork, second), modes=("live",))
        connect(first, modes=())
        deposits.send_due(now=NOW + timedelta(minutes=1))
        as_before()
        assert (first.sent, second.sent) == ([], [])

        deposits.send_due(now=NOW + timedelta(hours=2))
        assert (len(first.sent), second.sent) == (1, [])

    def test_end_the_verification_when_refused(self, globex, network):
        network().refuses = True
        source = make_source(globex)

        deposits.send_due(now=NOW)

        assert stored(source).status == "verification_failed"
        assert SourceVerification.objects.get().next_attempt_at is None

    def test_that_come_back_after_the_proof_end_the_account(self, globex, network):
        live = network()
        source = make_source(globex)
        deposits.send_due(now=NOW)
        verifications.verify(
            tenant_id=globex.pk, source_id=source.pk, amounts=(7, 31), actor=SYSTEM, now=NOW
        )

        live.events.append(message(source.verification, EventKind.RETURNED, "R02"))
        deposits.process_due(now=NOW)

        assert (stored(source).status, stored(source).last_return_code) == ("errored", "R02")

    def test_messages_are_taken_in_once(self, globex, network):
        live = network()
        source = make_source(globex)
        deposits.send_due(now=NOW)
        returned = message(source.verification, EventKind.RETURNED, "R03")

        live.events.append(returned)
        assert deposits.process_due(now=NOW) == 1
        live.events.append(returned)
        assert deposits.process_due(now=NOW) == 0

        assert len(notices_of(globex, "funding_source.updated")) == 1

    def test_messages_about_other_amounts_are_kept_for_review(self, globex, network):
        live = network()
        source = make_source(globex)
        deposits.send_due(now=NOW)

        returned = message(source.verification, EventKind.RETURNED, "R03")
        live.events.append(replace(returned, amount=39))
        deposits.process_due(now=NOW)

        assert stored(source).status == "pending_verification"
        assert InboundEvent.objects.get().note == "another amount or currency"

    def test_messages_about_nothing_we_sent_are_kept_for_review(self, globex, network):
        network().events.append(message(SourceVerification(), EventKind.RETURNED, "R03"))

        deposits.process_due(now=NOW)

        assert InboundEvent.objects.get().outcome == "review"
