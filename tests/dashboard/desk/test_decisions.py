"""The home says what waits for somebody at the desk, and leads there."""

from __future__ import annotations

from balance import proposals
from dashboard.desk.attention import of_decisions
from funding.services import holds
from networks.base import EventKind
from networks.inbox import arrivals
from tenants import actors
from tenants.actors import SYSTEM
from tests.builders import NOW
from tests.funding.builders import top_up
from tests.networks.scripted import ScriptedNetwork, message


def test_nothing_waits(desk, db, django_assert_num_queries):
    with django_assert_num_queries(4):
        assert list(of_decisions()) == []


def test_each_waiting_thing_leads_to_its_list(desk, acme, admin_user):
    funding = top_up(acme)
    holds.hold(funding_id=funding.pk, reason="odd", actor=SYSTEM, now=NOW)
    stranger = message(funding, EventKind.RETURNED, instruction_id="unknown")
    arrivals.collect(network=ScriptedNetwork(stranger), id_prefix="", now=NOW)
    proposals.propose(
        tenant_id=acme.pk,
        type="credit",
        amount=100,
        reason="Fee",
        actor=actors.staff(admin_user.pk),
        now=NOW,
    )

    waiting = list(of_decisions())

    assert [item.text for item in waiting] == [
        "Messages of networks to settle: 1.",
        "Adjustments to approve: 1.",
        "Funding on hold: 1.",
    ]
    for item in waiting:
        shown = desk.get(item.href)
        assert len(shown.context["cl"].queryset) == 1
        assert item.href in desk.get("/admin/").content.decode().replace("&amp;", "&")
