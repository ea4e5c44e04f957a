"""The home says what waits for somebody at the desk, and leads there."""

from __future__ import annotations

from balance import proposals
from desk.home.attention import of_decisions
from funding.transfer import FUNDING
from networks.base import EventKind
from tenants import actors
from tenants.actors import SYSTEM
from tests.builders import NOW
from tests.funding.builders import top_up
from tests.networks.scripted import ScriptedNetwork, message
from transfers import holds
from transfers.inbox import arrivals


def test_nothing_waits(desk, db, django_assert_num_queries):
    with django_assert_num_queries(1):
        assert list(of_decisions()) == []


def test_each_waiting_thing_leads_to_its_list(desk, acme, admin_user):
    funding = top_up(acme)
    holds.hold(FUNDING, funding.pk, reason="odd", actor=SYSTEM, now=NOW)
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


def test_a_tenants_page_leads_to_corrections_and_stops_for_it(desk, staff_with, acme):
    page = f"/admin/desk/tenants/{acme.pk}/"
    links = [
        f"/admin/balance/adjustmentproposal/add/?tenant={acme.pk}",
        f"/admin/tenants/switch/add/?tenant={acme.pk}",
    ]

    content = desk.get(page).content.decode()
    for link in links:
        assert link in content
        assert f'<option value="{acme.pk}" selected>' in desk.get(link).content.decode()

    content = staff_with("tenants.view_tenant").get(page).content.decode()
    assert [link for link in links if link in content] == []
