"""Two people are two people: who approves has account and power for longer than the proposal waits,
from somebody else, and is no superuser."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from balance import proposals, selectors
from balance.models import Adjustment, AdjustmentProposal
from tenants import actors
from tenants.actors import SYSTEM
from tenants.errors import InvalidRole, NotASecondPerson
from tenants.models import AuditEvent, OutgoingEmail, StaffPower, User
from tenants.services import staff
from tests.builders import LONG_AGO, NOW, browser_of, make_staff

APPROVE = "balance.approve_adjustment"
EARLIER, LATER = NOW - timedelta(hours=1), NOW + timedelta(hours=1)


@pytest.fixture
def ann(db):
    return make_staff("ann@ballast.example")


@pytest.fixture
def accountants(db):
    """The role that approves."""
    call_command("staff_roles", verbosity=0, stdout=StringIO())
    return Group.objects.get(name="Accountant")


def proposed(tenant, by, now=NOW):
    return proposals.propose(
        tenant_id=tenant.pk,
        type="credit",
        amount=100_000_000,
        reason="Fee charged twice",
        actor=actors.staff(by.pk),
        now=now,
    )


def approve(proposal, by):
    return proposals.approve(
        proposal_id=proposal.pk, note="Checked", actor=actors.staff(by.pk), now=LATER
    )


def hire(since=EARLIER, email="ben@ballast.example", **by):
    """An accountant."""
    person = staff.grant(email=email, roles=["Accountant"], actor=SYSTEM, now=since, **by)
    User.objects.filter(pk=person.pk).update(created_at=since)
    return person


def assert_refused(proposal, by, words):
    with pytest.raises(NotASecondPerson, match=words):
        approve(proposal, by)
    assert not Adjustment.objects.exists()
    proposal.refresh_from_db()
    assert proposal.decision == "open"
    assert selectors.summary(proposal.tenant_id).available == 0


class TestFound:
    def test_a_superuser_approves_nothing_as_a_second_superuser(self, acme):
        one = User.objects.create_superuser(email="one@ballast.example")
        desk = browser_of(one)
        desk.post(
            "/admin/balance/adjustmentproposal/add/",
            {"tenant": acme.pk, "type": "credit", "amount": "1,000,000", "reason": "Mine"},
        )
        proposal = AdjustmentProposal.objects.get()
        sent = {"email": "two@ballast.example", "usable_password": "true"}
        words = {"password1": "correct horse battery", "password2": "correct horse battery"}
        desk.post("/admin/tenants/user/add/", {**sent, **words})
        two, _ = User.objects.get_or_create(email="two@ballast.example")
        desk.post(
            f"/admin/tenants/user/{two.pk}/change/",
            {"email": two.email, "is_active": "on", "is_staff": "on", "is_superuser": "on"},
        )
        two.refresh_from_db()

        assert not two.is_superuser
        assert not two.is_staff
        path = reverse("admin:balance_adjustmentproposal_approve", args=[proposal.pk])
        browser_of(two).post(path, {"reason": "Fine"})
        User.objects.filter(pk=two.pk).update(is_staff=True, is_superuser=True)
        page = browser_of(two).post(path, {"reason": "Fine"}, follow=True)
        assert "A superuser is for emergencies" in page.content.decode()
        assert_refused(proposal, two, "superuser")

    def test_nobody_gives_groups_at_the_desk(self, ann, accountants):
        ben = make_staff("ben@ballast.example", ["tenants.view_user"])

        browser_of(ann).post(
            f"/admin/tenants/user/{ben.pk}/change/",
            {"email": ben.email, "is_active": "on", "is_staff": "on", "groups": accountants.pk},
        )

        assert not ben.groups.filter(pk=accountants.pk).exists()


class TestApproving:
    def test_by_a_colleague_of_long_standing(self, acme, ann, accountants):
        approve(proposed(acme, ann), hire())

        assert selectors.summary(acme.pk).available == 100_000_000

    def test_not_with_a_younger_power(self, acme, ann, accountants):
        ben = hire(since=NOW)
        User.objects.filter(pk=ben.pk).update(created_at=LONG_AGO)

        assert_refused(proposed(acme, ann), ben, "role is younger")

    def test_not_with_a_younger_account(self, acme, ann, accountants):
        ben = hire()
        User.objects.filter(pk=ben.pk).update(created_at=NOW)

        assert_refused(proposed(acme, ann), ben, "account is younger")

    def test_not_with_a_power_from_the_one_who_proposes(self, acme, ann, accountants):
        ben = make_staff("cid@ballast.example")
        cid = hire(email="eve@ballast.example", asked_by=ben.pk, granted_by=ann.pk)
        proposal = proposed(acme, ann)
        approve(proposal, cid)  # two people granted it, one of whom has nothing to do with this

        own = hire(email="fay@ballast.example", asked_by=None, granted_by=None)
        StaffPower.objects.filter(user=own).update(ended_at=LATER)
        with pytest.raises(NotASecondPerson, match="role is younger"):
            approve(proposed(acme, ann), own)

    def test_not_when_it_came_from_both_of_them(self, acme, ann, accountants):
        ben = make_staff("ben@ballast.example", ["tenants.view_user"])
        with pytest.raises(IntegrityError), transaction.atomic():
            hire(asked_by=ann.pk, granted_by=ben.pk)  # nobody grants to oneself
        hire(asked_by=ben.pk, granted_by=ann.pk)

        assert_refused(proposed(acme, ann), ben, "came from the one who proposed it")

    def test_not_by_somebody_who_left(self, acme, ann, accountants):
        ben, proposal = hire(), proposed(acme, ann)
        staff.end(user_id=ben.pk, actor=SYSTEM, now=NOW)

        assert_refused(proposal, ben, "do not work here")

    def test_not_by_somebody_who_left_and_came_back(self, acme, ann, accountants):
        ben, proposal = hire(), proposed(acme, ann)
        staff.end(user_id=ben.pk, actor=SYSTEM, now=NOW)
        staff.grant(email=ben.email, roles=["Accountant"], actor=SYSTEM, now=LATER)

        assert_refused(proposal, ben, "role is younger")

    def test_not_in_a_group_without_a_grant(self, acme, ann, accountants):
        ben = make_staff("ben@ballast.example", ["tenants.view_user"])
        ben.groups.add(accountants)

        assert_refused(proposed(acme, ann), ben, "role is younger")


class TestTheCommand:
    def test_hires_on_the_record(self, db):
        self.call("--role", "Accountant", "--role", "Viewer")

        ben = User.objects.get(email="ben@ballast.example")
        assert ben.is_staff
        assert not ben.is_superuser
        assert not ben.has_usable_password()
        assert ben.has_perm(APPROVE)
        powers = StaffPower.objects.filter(granted_by=None, ended_at=None).order_by("group__name")
        assert [power.group.name for power in powers] == ["Accountant", "Viewer"]
        event = AuditEvent.objects.get(action="staff.granted")
        assert (event.actor_type, event.tenant, event.staff_note) == ("system", None, "New here")
        assert event.details == {
            "email": "ben@ballast.example",
            "roles": ["Accountant", "Viewer"],
            "operator": "Ann",
        }

    def test_gives_a_role_once(self, db):
        self.call("--role", "Viewer")
        self.call("--role", "Viewer")

        assert StaffPower.objects.count() == 1
        assert AuditEvent.objects.filter(action="staff.granted").count() == 1

    def test_ends_everything_and_every_session(self, db):
        self.call("--role", "Viewer")
        ben = User.objects.get()
        browser = browser_of(ben)
        assert browser.get("/admin/").status_code == 200

        self.call("--end")

        assert browser.get("/admin/").status_code == 302
        ben.refresh_from_db()
        assert not ben.is_staff
        assert not ben.groups.exists()
        assert StaffPower.objects.get().ended_at is not None
        assert AuditEvent.objects.get(action="staff.ended").details["roles"] == ["Viewer"]

    def test_knows_no_other_roles(self, db):
        with pytest.raises(InvalidRole):
            staff.grant(email="ben@ballast.example", roles=["Boss"], actor=SYSTEM, now=NOW)
        assert not User.objects.exists()

    @staticmethod
    def call(*options):
        who_and_why = ("--operator", "Ann", "--reason", "New here")
        call_command(
            "staff_member", "ben@ballast.example", *options, *who_and_why, stdout=StringIO()
        )


class TestSuperusers:
    def test_are_alarming(self, db, log, client, settings):
        make_staff("ann@ballast.example")
        make_staff("vic@ballast.example", ["tenants.view_user"])
        settings.METRICS_TOKEN = "secret"
        User.objects.create_superuser(email="root@ballast.example", password="correct horse staple")

        self.sign_in("root@ballast.example")

        assert [line["event"] for line in log.lines if line["level"] == "error"] == [
            "superuser_signed_in"
        ]
        mail = OutgoingEmail.objects.get(template="staff_alarm")
        assert mail.to == "ann@ballast.example"
        assert mail.context["facts"] == [["Who", "root@ballast.example"]]
        page = client.get("/metrics", headers={"Authorization": "Bearer secret"}).content.decode()
        assert "ballast_superusers_seen 1.0" in page

    def test_are_the_only_ones(self, db):
        make_staff("ann@ballast.example", password="correct horse staple")

        self.sign_in("ann@ballast.example")

        assert AuditEvent.objects.filter(action="sign_in.succeeded").exists()
        assert not OutgoingEmail.objects.filter(template="staff_alarm").exists()

    @staticmethod
    def sign_in(email):
        sent = {"login": email, "password": "correct horse staple"}
        assert Client().post("/accounts/login/", sent).status_code == 302
