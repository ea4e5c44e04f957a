"""Operator switches: what they are, and what may be done to them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.urls import reverse

from tenants import actors
from tenants.actors import SYSTEM
from tenants.errors import InvalidSwitch, ReadOnlyMode, SwitchEngaged, SwitchReleased
from tenants.models import AuditEvent, Switch, User
from tenants.services import switches
from tenants.switches import SwitchKind
from tests.builders import NOW, enter_as, make_staff
from tests.database import owner
from tests.races.together import together

LIST = "admin:tenants_switch_changelist"


def engage(kind=SwitchKind.FUNDING, **options):
    values: dict[str, Any] = {"reason": "Bank is odd", "actor": SYSTEM, "now": NOW}
    return switches.engage(kind=kind, **(values | options))


def release(switch, reason="Fixed"):
    return switches.release(switch_id=switch.pk, reason=reason, actor=SYSTEM, now=NOW)


class TestHistory:
    def test_says_who_when_and_why_for_both_ends(self, db, admin_user):
        staff = actors.staff(admin_user.pk)
        switch = engage(actor=staff, network="sandbox")

        switches.release(switch_id=switch.pk, reason="Bank is back", actor=staff, now=NOW)

        kept = Switch.objects.values().get()
        assert {name: kept[name] for name in ("kind", "network", "reason", "release_reason")} == {
            "kind": "funding",
            "network": "sandbox",
            "reason": "Bank is odd",
            "release_reason": "Bank is back",
        }
        assert kept["engaged_by_id"] == kept["released_by_id"] == admin_user.pk
        assert [(row.action, row.actor_id, row.staff_note) for row in audited()] == [
            ("switch.engaged", admin_user.pk, "Bank is odd"),
            ("switch.released", admin_user.pk, "Bank is back"),
        ]

    def test_is_not_rewritten(self, db):
        switch = engage()
        for change in (
            {"reason": "x"},
            {"kind": "payments"},
            {"engaged_at": NOW.replace(year=2025)},
        ):
            with owner.as_owner(), pytest.raises(DatabaseError), transaction.atomic():
                Switch.objects.update(**change)
        release(switch)

        with owner.as_owner(), pytest.raises(DatabaseError), transaction.atomic():
            Switch.objects.update(released_at=None, release_reason="")
        with owner.as_owner(), pytest.raises(DatabaseError), transaction.atomic():
            switch.delete()


def audited():
    return AuditEvent.objects.filter(action__startswith="switch.").order_by("pk")


class TestEngaging:
    def test_twice_is_refused_and_after_a_release_it_is_a_new_row(self, acme, rival):
        first = engage(tenant_id=acme.pk)
        engage(tenant_id=rival.pk)
        engage()

        with pytest.raises(SwitchEngaged):
            engage(tenant_id=acme.pk)

        release(first)
        assert engage(tenant_id=acme.pk).pk != first.pk

    @pytest.mark.django_db(transaction=True)
    def test_at_once_engages_one(self):
        outcomes = together(lambda _: attempt(engage), workers=4)

        assert sorted(outcomes) == ["SwitchEngaged"] * 3 + ["done"]
        assert Switch.objects.count() == audited().count() == 1

    @pytest.mark.parametrize(
        "options",
        [
            {"reason": " "},
            {"reason": "x" * 201},
            {"network": "nowhere"},
            {"network": "sandbox", "kind": SwitchKind.WEBHOOKS},
        ],
    )
    def test_needs_a_reason_and_something_that_exists(self, db, options):
        with pytest.raises(InvalidSwitch):
            engage(**options)

        assert not Switch.objects.exists()

    def test_of_a_network_is_not_for_one_tenant(self, acme):
        with pytest.raises(InvalidSwitch):
            engage(network="sandbox", tenant_id=acme.pk)


def attempt(act):
    try:
        act()
    except SwitchEngaged as refusal:
        return type(refusal).__name__
    return "done"


class TestReleasing:
    def test_twice_is_refused_and_changes_nothing(self, db):
        switch = engage()
        release(switch)

        with pytest.raises(SwitchReleased):
            release(switch, reason="Again")

        assert Switch.objects.get().release_reason == "Fixed"


class TestReadOnly:
    def test_is_for_everybody_or_one_tenant(self, acme, rival):
        switch = engage(SwitchKind.READ_ONLY, tenant_id=acme.pk)
        with pytest.raises(ReadOnlyMode):
            switches.require_writable(tenant_id=acme.pk)
        switches.require_writable(tenant_id=rival.pk)

        release(switch)
        switches.require_writable(tenant_id=acme.pk)

        engage(SwitchKind.READ_ONLY)
        with pytest.raises(ReadOnlyMode):
            switches.require_writable(tenant_id=rival.pk)


class TestDesk:
    def test_engages_shows_a_banner_everywhere_and_releases(self, acme, admin_client, admin_user):
        add, home = reverse("admin:tenants_switch_add"), reverse("admin:index")
        body = {"kind": "payments", "network": "", "tenant": acme.pk, "reason": "Odd recipients"}

        admin_client.post(add, body)

        switch = Switch.objects.get()
        assert (switch.tenant_id, switch.engaged_by_id) == (acme.pk, admin_user.pk)
        for page in (home, reverse(LIST), reverse("admin:tenants_tenant_changelist")):
            assert "Odd recipients" in admin_client.get(page).content.decode()

        address = reverse("admin:tenants_switch_release", args=[switch.pk])
        assert admin_client.get(address).status_code == 200
        assert admin_client.post(address, {"reason": ""}).status_code == 422
        admin_client.post(address, {"reason": "All paid rightly"})

        switch.refresh_from_db()
        assert (switch.release_reason, switch.released_by_id) == ("All paid rightly", admin_user.pk)
        assert "Odd recipients" not in admin_client.get(home).content.decode()

    def test_says_why_a_switch_is_refused(self, db, admin_client):
        engage(SwitchKind.WEBHOOKS)
        body = {"kind": "webhooks", "network": "", "tenant": "", "reason": "Again"}

        answer = admin_client.post(reverse("admin:tenants_switch_add"), body, follow=True)

        assert "Stopped already" in answer.content.decode()
        assert Switch.objects.count() == 1

    def test_shows_each_with_state_reach_who_since_and_why(self, acme, admin_client, admin_user):
        engage(SwitchKind.WEBHOOKS, tenant_id=acme.pk)

        page = admin_client.get("/admin/tenants/switch/").content.decode()

        assert page.count('class="pill pill--good">Running') == len(SwitchKind) - 1
        (card,) = re.findall(r"switch-card--on\">(.*?)</section>", page, re.DOTALL)
        words = {"Webhooks", "Stopped in part", "Acme", "command line", "Bank is odd", "Release…"}
        assert words <= {*re.findall(r"[^<>]+", card)}

    def test_offers_on_the_board_what_a_person_may_do(self, acme, client, db):
        engage(SwitchKind.WEBHOOKS, tenant_id=acme.pk)
        enter_as(client, make_staff("lee@ballast.example", ["tenants.view_switch"]))

        board = client.get("/admin/tenants/switch/").content.decode()

        assert "Stopped" in board
        assert "Release…" not in board.partition("switch-board")[2]
        assert "Stop…" not in board

    def test_lets_nobody_release_without_the_permission(self, client, db):
        switch = engage()
        enter_as(client, User.objects.create_user(email="new@ballast.example", is_staff=True))

        address = reverse("admin:tenants_switch_release", args=[switch.pk])
        assert client.post(address, {"reason": "x"}).status_code == 403

        switch.refresh_from_db()
        assert switch.released_at is None
