"""One insider at the desk, alone: whatever is sent to whichever page, nobody gets in, gets power,
or gets a key or a password."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group
from django.core.management import call_command

from common.clock import utc_now
from tenants import actors
from tenants.access import AccessKind, AccessProposal
from tenants.errors import NotASecondPerson
from tenants.models import ApiKey, Invitation, Membership, Role, StaffPower, User
from tenants.services import access
from tests.builders import browser_of, make_key, make_member, make_staff

EVE = "eve@ballast.example"
# What a form of Django's admin could be sent to give power, whatever it shows.
GREEDY = {
    "email": EVE,
    "name": "Eve",
    "is_active": "on",
    "is_staff": "on",
    "is_superuser": "on",
    "role": "owner",
    "password": "another word for horse",
    "password1": "another word for horse",
    "password2": "another word for horse",
    "usable_password": "true",
    "scopes": ["payments:write"],
    "codename": "approve_access",
    "granted_at": "2020-01-01 00:00:00",
    "decision": "approved",
    "post": "yes",
    "_save": "Save",
}


@pytest.fixture
def roles(db):
    call_command("staff_roles", verbosity=0)


@pytest.fixture
def eve(roles):
    """An administrator who may do everything that anybody of staff may."""
    return make_staff(EVE)


@pytest.fixture
def dana(acme):
    person = make_member(acme, email="dana@acme.example", role=Role.OWNER)
    person.set_password("correct horse staple")
    person.save()
    return person


def standing() -> dict[str, Any]:
    """Who may do what, and by which secrets."""
    people = User.objects.order_by("pk")
    names = ("email", "password", "is_active", "is_staff", "is_superuser", "user_permissions")
    return {
        "people": list(people.values_list("pk", *names)),
        "groups": list(User.groups.through.objects.order_by("pk").values_list()),
        "rights": list(Group.permissions.through.objects.order_by("pk").values_list()),
        "powers": list(StaffPower.objects.order_by("pk").values_list()),
        "memberships": list(Membership.objects.order_by("pk").values_list("pk", "user", "role")),
        "invitations": list(Invitation.objects.values_list("pk")),
        "keys": list(ApiKey.objects.order_by("pk").values_list("pk", "digest", "scopes")),
        "decided": list(AccessProposal.objects.exclude(decision="open").values_list("pk")),
    }


def addresses(row: Any) -> list[str]:
    base = f"/admin/{row._meta.label_lower.replace('.', '/')}/"
    acts = ("change", "delete", "password", "approve", "history")
    return [f"{base}add/", *(f"{base}{row.pk}/{act}/" for act in acts)]


class TestDirectPosts:
    @pytest.mark.parametrize("is_superuser", [False, True])
    def test_give_nothing_to_anybody(self, acme, dana, eve, is_superuser):
        make_key(acme)
        User.objects.filter(pk=eve.pk).update(is_superuser=is_superuser)
        ben = make_staff("ben@ballast.example", ["tenants.view_user"])
        own = propose_role(eve, "second@ballast.example", now=utc_now() - timedelta(hours=1))
        rows: list[Any] = [dana, ben, eve, own, Group.objects.get(name="Viewer")]
        for model in (ApiKey, Membership, StaffPower):
            found = model._default_manager.first()
            assert found is not None
            rows.append(found)
        sent = {
            **GREEDY,
            "tenant": acme.pk,
            "user": eve.pk,
            "groups": [str(pk) for pk in Group.objects.values_list("pk", flat=True)],
        }
        before, browser = standing(), browser_of(eve)

        for row in rows:
            for address in addresses(row):
                assert browser.post(address, sent).status_code < 500, address

        assert standing() == before

    def test_of_every_list_are_read_only_but_for_these(self, eve, rf):
        """Whoever makes a list of the admin writable says here that one person may write there."""
        request = rf.get("/")
        request.user = eve
        User.objects.filter(pk=eve.pk).update(is_superuser=True)
        eve.refresh_from_db()

        writable = {
            model._meta.label_lower: allowed
            for model, page in admin.site._registry.items()
            if (
                allowed := [
                    act
                    for act in ("add", "change", "delete")
                    if getattr(page, f"has_{act}_permission")(request)
                ]
            )
        }

        assert writable == {
            "tenants.accessproposal": ["add"],
            "tenants.apikey": ["change"],
            "tenants.user": ["change"],
            "tenants.switch": ["add"],
            "tenants.tenant": ["add"],
            "network_inbox.handsettlement": ["add"],
            "balance.adjustmentproposal": ["add"],
            "payments.paymentsettings": ["add", "change"],
        }


class TestTwoAccounts:
    """Of one person, who got the second one from a colleague that thought it a new one."""

    @pytest.fixture
    def second(self, eve):
        """Agreed to in an emergency a minute ago."""
        ben = make_staff("ben@ballast.example")
        then = utc_now() - timedelta(minutes=1)
        hired = propose_role(eve, "second@ballast.example", now=then)
        approve(hired, ben, now=then)
        return User.objects.get(email="second@ballast.example")

    def test_approve_nothing_that_waits_already(self, acme, eve, second):
        waits = propose_role(eve, "third@ballast.example", now=utc_now() - timedelta(minutes=2))

        page = browser_of(second).post(
            f"/admin/tenants/accessproposal/{waits.pk}/approve/", {"reason": "Fine"}, follow=True
        )

        assert "younger than the proposal" in page.content.decode()
        assert_open(waits)

    @pytest.mark.parametrize("first", ["eve", "second"])
    def test_are_no_two_people_in_an_emergency(self, acme, eve, second, first):
        by, other = (eve, second) if first == "eve" else (second, eve)
        later = utc_now() + timedelta(days=30)
        waits = propose_role(by, "third@ballast.example", now=later)

        with pytest.raises(NotASecondPerson, match="One of you two gave the other a role"):
            approve(waits, other, now=later)

        assert_open(waits)
        approve(waits, make_staff("cid@ballast.example"), now=later)
        assert User.objects.get(email="third@ballast.example").is_staff


def propose_role(by: User, email: str, *, now: Any) -> AccessProposal:
    return access.propose(
        kind=AccessKind.POWER,
        email=email,
        groups=["Administrator"],
        reason="New here",
        is_emergency=True,
        actor=actors.staff(by.pk),
        now=now,
    )


def approve(proposal: AccessProposal, by: User, *, now: Any) -> None:
    access.approve(proposal_id=proposal.pk, note="Called", actor=actors.staff(by.pk), now=now)


def assert_open(proposal: AccessProposal) -> None:
    proposal.refresh_from_db()
    assert proposal.decision == "open"
    assert not User.objects.filter(email=proposal.email).exists()
