"""What gives access takes two people of staff and a day, and those whom it concerns are told."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import DatabaseError, transaction
from django.test import Client

from tenants import actors
from tenants.access import AccessDecision, AccessKind, AccessProposal
from tenants.actors import SYSTEM
from tenants.errors import AccessRefused, AddressTaken, InvalidRole, NotASecondPerson
from tenants.models import AuditEvent, Invitation, Membership, OutgoingEmail, Role, StaffPower, User
from tenants.services import access, staff
from tests.builders import NOW, browser_of, make_member, make_staff
from tests.corruption import found
from tests.races.together import together

A_DAY = timedelta(hours=24)
TOMORROW = NOW + A_DAY


@pytest.fixture
def ann(db):
    return make_staff("ann@ballast.example")


@pytest.fixture
def ben(db):
    return make_staff("ben@ballast.example")


@pytest.fixture
def dana(acme):
    return make_member(acme, email="dana@acme.example")


def propose(by, kind=AccessKind.MEMBER, email="lee@acme.example", now=NOW, **terms):
    values: dict[str, Any] = {"reason": "The owner asked in writing"}
    return access.propose(
        kind=kind, email=email, actor=actors.staff(by.pk), now=now, **(values | terms)
    )


def approve(proposal, by, now=TOMORROW):
    return access.approve(
        proposal_id=proposal.pk, note="Called back", actor=actors.staff(by.pk), now=now
    )


def mails(template):
    rows = OutgoingEmail.objects.filter(template=template).order_by("pk")
    return [(mail.to, mail.context) for mail in rows]


def facts(context):
    return dict(context["facts"])


def assert_open(proposal):
    proposal.refresh_from_db()
    assert proposal.decision == AccessDecision.OPEN
    assert not Invitation.objects.exists()
    assert not Membership.objects.filter(user__email="lee@acme.example").exists()


class TestOwners:
    def test_are_invited_by_two_after_a_day(self, acme, dana, ann, ben):
        proposal = propose(ann, tenant=acme, role="owner", email="Lee@Acme.example")
        ((to, context),) = mails("access_by_support")
        assert to == "dana@acme.example"
        assert facts(context) == {
            "Person": "lee@acme.example",
            "Organization": "Acme",
            "Role": "Owner",
        }
        assert context["waits_until"] == TOMORROW.isoformat()
        assert_open(proposal)

        approve(proposal, ben)

        invitation = Invitation.objects.get()
        assert (invitation.email, invitation.role) == ("lee@acme.example", Role.OWNER)
        assert (invitation.tenant, invitation.invited_by) == (acme, None)
        assert not User.objects.filter(email="lee@acme.example").exists()
        _, (_, done) = mails("access_by_support")
        assert done["invited"] == "Our support invited lee@acme.example as owner"
        assert not mails("staff_alarm")
        told = AuditEvent.objects.filter(action__startswith="access.").order_by("pk")
        assert [(line.action, line.actor_id, line.tenant) for line in told] == [
            ("access.proposed", ann.pk, None),
            ("access.approved", ben.pk, None),
        ]

    def test_who_are_members_get_the_role(self, acme, dana, ann, ben):
        make_member(acme, email="lee@acme.example", role=Role.VIEWER)

        approve(propose(ann, tenant=acme, role="owner"), ben)

        assert Membership.objects.get(user__email="lee@acme.example").role == Role.OWNER
        assert "dana@acme.example" in [to for to, _ in mails("access_changed")]
        assert {context["invited"] for _, context in mails("access_by_support")} == {""}

    def test_not_a_minute_earlier(self, acme, ann, ben):
        proposal = propose(ann, tenant=acme, role="owner")

        with pytest.raises(AccessRefused, match="It waits until Nov 21, 2026, 10:00 AM EST"):
            approve(proposal, ben, now=TOMORROW - timedelta(minutes=1))

        assert_open(proposal)

    def test_not_by_the_one_who_proposed_it(self, acme, ann):
        proposal = propose(ann, tenant=acme, role="owner")

        with pytest.raises(AccessRefused, match="You proposed it"):
            approve(proposal, ann)

        assert_open(proposal)

    def test_not_by_the_one_who_gets_it(self, acme, ann, ben):
        proposal = propose(ann, tenant=acme, role="owner", email=ben.email)

        with pytest.raises(AccessRefused, match="It is about you"):
            approve(proposal, ben)

        assert_open(proposal)

    def test_not_by_somebody_hired_since(self, acme, ann):
        proposal = propose(ann, tenant=acme, role="owner")
        eve = make_staff("eve@ballast.example", since=NOW + timedelta(hours=1))

        with pytest.raises(NotASecondPerson):
            approve(proposal, eve)

        assert_open(proposal)

    def test_not_by_a_superuser(self, acme, ann, ben):
        proposal = propose(ann, tenant=acme, role="owner")
        User.objects.filter(pk=ben.pk).update(is_superuser=True)

        with pytest.raises(NotASecondPerson, match="superuser"):
            approve(proposal, ben)

        assert_open(proposal)

    def test_wait_once(self, acme, dana, ann, ben):
        propose(ann, tenant=acme, role="owner")

        with pytest.raises(AccessRefused, match="waits for this person already"):
            propose(ben, tenant=acme, role="viewer")

        assert propose(ann, tenant=acme, role="owner") == AccessProposal.objects.get()
        assert OutgoingEmail.objects.count() == 1

    @pytest.mark.parametrize(
        "terms",
        [
            {"role": "owner"},
            {"role": "boss", "tenant": True},
            {"tenant": True},
            {"tenant": True, "role": "owner", "groups": ["Viewer"]},
            {"kind": AccessKind.POWER},
            {"kind": AccessKind.ADDRESS, "email": "dana@acme.example"},
        ],
    )
    def test_and_the_others_are_of_their_kind(self, acme, dana, ann, terms):
        chosen = {**terms, "tenant": acme} if "tenant" in terms else terms

        with pytest.raises(AccessRefused, match="A role in a tenant takes"):
            propose(ann, **chosen)

        assert not AccessProposal.objects.exists()
        assert not OutgoingEmail.objects.exists()

    def test_rejected_are_not_made(self, acme, ann, ben):
        proposal = propose(ann, tenant=acme, role="owner")

        access.reject(
            proposal_id=proposal.pk, note="Never called", actor=actors.staff(ben.pk), now=NOW
        )

        with pytest.raises(AccessRefused, match="It was rejected"):
            approve(proposal, ben)
        assert not Invitation.objects.exists()


class TestAddresses:
    def change(self, ann, **terms):
        values = {"email": "dana@acme.example", "new_email": "dana.lee@acme.example"}
        return propose(ann, AccessKind.ADDRESS, **(values | terms))

    def test_are_changed_by_two_after_a_day(self, acme, dana, ann, ben):
        dana.set_password("correct horse staple")
        dana.save()
        browser = Client()
        sent = {"login": dana.email, "password": "correct horse staple"}
        browser.post("/accounts/login/", sent)
        assert browser.get("/dashboard/").status_code == 200
        proposal = self.change(ann)
        ((to, context),) = mails("access_by_support")
        assert (to, facts(context)["New address"]) == ("dana@acme.example", "dana.lee@acme.example")

        approve(proposal, ben)

        dana.refresh_from_db()
        assert dana.email == "dana.lee@acme.example"
        assert browser.get("/dashboard/").status_code == 302
        assert [to for to, _ in mails("address_changed")] == [
            "dana@acme.example",
            "dana.lee@acme.example",
        ]
        event = AuditEvent.objects.get(action="address.set_by_support")
        assert event.tenant == acme

    def test_stay_where_the_new_one_is_taken(self, acme, dana, ann, ben):
        make_member(acme, email="max@acme.example")
        proposal = self.change(ann, new_email="max@acme.example")

        with pytest.raises(AddressTaken):
            approve(proposal, ben)

        dana.refresh_from_db()
        assert dana.email == "dana@acme.example"

    def test_of_colleagues_stay(self, ann, ben):
        cid = make_staff("cid@ballast.example")
        proposal = self.change(ann, email=cid.email)

        with pytest.raises(AccessRefused, match="A colleague keeps the address"):
            approve(proposal, ben)

    def test_of_nobody_are_not_changed(self, ann):
        with pytest.raises(AccessRefused, match="Nobody has the address"):
            self.change(ann)


class TestPowers:
    @pytest.fixture(autouse=True)
    def roles(self, db):
        call_command("staff_roles", verbosity=0)

    def hire(self, ann, **terms):
        values = {"email": "new@ballast.example", "groups": ["Accountant", "Viewer"]}
        return propose(ann, AccessKind.POWER, **(values | terms))

    def test_are_given_by_two_after_a_day(self, ann, ben):
        proposal = self.hire(ann)
        assert {to for to, _ in mails("staff_alarm")} == {ann.email, ben.email}

        approve(proposal, ben)

        new = User.objects.get(email="new@ballast.example")
        assert new.is_staff
        assert not new.has_usable_password()
        power = StaffPower.objects.filter(user=new, group__name="Accountant").get()
        assert (power.asked_by, power.granted_by, power.granted_at) == (ann, ben, TOMORROW)
        ((to, _),) = mails("password_reset")
        assert to == "new@ballast.example"

    def test_are_roles_that_exist(self, ann, ben):
        proposal = self.hire(ann, groups=["Boss"])

        with pytest.raises(InvalidRole):
            approve(proposal, ben)

        assert not User.objects.filter(email="new@ballast.example").exists()

    def test_of_somebody_who_gave_them_to_the_proposer_are_no_second_person(self, ann, ben):
        approve(self.hire(ann, groups=["Administrator"]), ben)
        new = User.objects.get(email="new@ballast.example")
        User.objects.filter(pk=new.pk).update(created_at=NOW)
        theirs = self.hire(ann, email="next@ballast.example", now=TOMORROW + A_DAY)

        approve(theirs, new, now=TOMORROW + 2 * A_DAY)  # ben agreed to it, who has no part in this

        assert User.objects.filter(email="next@ballast.example").exists()


class TestEmergencies:
    def test_need_no_day_and_name_both(self, acme, dana, ann, ben, log, client, settings):
        settings.METRICS_TOKEN = "secret"
        proposal = propose(ann, tenant=acme, role="owner", is_emergency=True)

        approve(proposal, ben, now=NOW)

        assert Invitation.objects.get().role == Role.OWNER
        (line,) = [each for each in log.lines if each["level"] == "error"]
        assert (line["event"], line["proposed_by"], line["decided_by"]) == (
            "access_in_emergency",
            ann.pk,
            ben.pk,
        )
        told = mails("staff_alarm")
        assert {to for to, _ in told} == {ann.email, ben.email}
        assert facts(told[0][1])["Proposed by"] == ann.email
        assert facts(told[0][1])["Approved by"] == ben.email
        assert facts(mails("access_by_support")[0][1])["Emergency"] == "without the usual delay"
        assert access.emergencies(now=NOW) == 1
        assert access.emergencies(now=NOW + A_DAY) == 0

    def test_of_staff_send_one_alarm(self, ann, ben):
        """Found: a second one said that roles of staff were approved."""
        call_command("staff_roles", verbosity=0)
        terms = {"email": "new@ballast.example", "groups": ["Viewer"], "is_emergency": True}
        proposal = propose(ann, AccessKind.POWER, **terms)
        asked = len(mails("staff_alarm"))

        approve(proposal, ben, now=NOW)

        told = [context["what"] for _, context in mails("staff_alarm")[asked:]]
        assert set(told) == {"Access was given in an emergency"}

    def test_need_two_as_well(self, acme, ann):
        proposal = propose(ann, tenant=acme, role="owner", is_emergency=True)

        with pytest.raises(AccessRefused, match="You proposed it"):
            approve(proposal, ann, now=NOW)

        assert_open(proposal)


class TestEnds:
    A_WEEK = timedelta(days=7)
    OVER = TOMORROW + A_WEEK

    def test_it_can_be_approved_for_a_week(self, acme, ann, ben):
        approve(propose(ann, tenant=acme, role="owner"), ben, now=self.OVER - timedelta(minutes=1))

        assert Invitation.objects.get().email == "lee@acme.example"

    @pytest.mark.parametrize("decide", [access.approve, access.reject])
    def test_nobody_decides_what_is_over_also_before_the_beat(self, acme, ann, ben, decide):
        proposal = propose(ann, tenant=acme, role="owner")

        with pytest.raises(AccessRefused, match="It ended at Nov 28, 2026, 10:00 AM EST"):
            decide(proposal_id=proposal.pk, note="Late", actor=actors.staff(ben.pk), now=self.OVER)

        assert_open(proposal)

    def test_an_emergency_ends_as_well(self, acme, ann, ben):
        proposal = propose(ann, tenant=acme, role="owner", is_emergency=True)

        with pytest.raises(AccessRefused, match="It ended"):
            approve(proposal, ben, now=NOW + self.A_WEEK)

        assert_open(proposal)

    def test_the_beat_ends_it_once(self, acme, dana, ann, ben):
        proposal = propose(ann, tenant=acme, role="owner")

        assert access.expire_due(now=self.OVER - timedelta(minutes=1)) == 0
        assert_open(proposal)
        assert access.expire_due(now=self.OVER) == 1
        assert access.expire_due(now=self.OVER) == 0

        proposal.refresh_from_db()
        assert (proposal.decision, proposal.decided_at) == (AccessDecision.EXPIRED, self.OVER)
        assert (proposal.decided_by, proposal.decision_note) == (None, "Nobody decided in time.")
        line = AuditEvent.objects.get(action="access.expired")
        assert (line.actor_type, line.subject_id, line.tenant) == ("system", proposal.pk, None)
        _, (to, context) = mails("access_by_support")
        assert (to, context["waits_until"], context["is_over"]) == ("dana@acme.example", "", True)
        assert access.waiting().count() == 0
        with pytest.raises(AccessRefused, match="It was expired"):
            approve(proposal, ben, now=self.OVER)
        assert not Invitation.objects.exists()
        assert "access_unwitnessed" not in found()

    def test_roles_that_nobody_gave_are_told_to_who_looks_after_staff(self, ann, ben):
        propose(ann, AccessKind.POWER, email="new@ballast.example", groups=["Viewer"])

        access.expire_due(now=self.OVER)

        told = [context["what"] for _, context in mails("staff_alarm")]
        assert (
            told
            == ["Roles of staff were proposed"] * 2
            + ["Roles of staff were not decided in time"] * 2
        )

    def test_it_is_not_in_the_way_of_the_next_one(self, acme, ann, ben):
        over = propose(ann, tenant=acme, role="owner")

        anew = propose(ben, tenant=acme, role="owner", now=self.OVER)

        over.refresh_from_db()
        assert (over.decision, anew.decision) == (AccessDecision.EXPIRED, AccessDecision.OPEN)
        assert anew.ends_at == self.OVER + A_DAY + self.A_WEEK

    def test_the_database_approves_nothing_late(self, acme, ann, ben):
        proposal = propose(ann, tenant=acme, role="owner")
        rows = AccessProposal.objects.filter(pk=proposal.pk)

        for decision, who, when in (
            ("approved", ben, self.OVER),
            ("rejected", ben, self.OVER),
            ("expired", None, TOMORROW),
            ("expired", ben, self.OVER),
        ):
            with pytest.raises(DatabaseError), transaction.atomic():
                rows.update(decision=decision, decided_by=who, decided_at=when)
        with pytest.raises(DatabaseError), transaction.atomic():
            rows.update(ends_at=self.OVER + A_DAY)

    def test_the_page_says_when(self, acme, ann, ben):
        proposal = propose(ann, tenant=acme, role="owner")
        page = f"/admin/tenants/accessproposal/{proposal.pk}"

        asked = browser_of(ben).get(f"{page}/approve/").content.decode()
        assert "from Nov 21, 2026, 10:00 AM EST, and until Nov 28, 2026, 10:00 AM EST." in asked
        shown = browser_of(ben).get(f"{page}/change/").content.decode()
        assert "Nov 28, 2026, 10:00 AM EST" in shown

    @pytest.mark.django_db(transaction=True)
    def test_it_ends_or_is_approved(self, acme, ann, ben):
        proposal = propose(ann, tenant=acme, role="owner")

        def act(worker):
            if worker:
                return access.expire_due(now=self.OVER)
            return approve(proposal, ben, now=self.OVER - timedelta(minutes=1))

        approved, ended = together(act, workers=2)

        assert isinstance(approved, AccessProposal) != bool(ended)
        assert Invitation.objects.exists() != bool(ended)


class TestRaces:
    @pytest.mark.django_db(transaction=True)
    def test_two_approvals_at_once_are_one(self, acme, ann, ben):
        cid = make_staff("cid@ballast.example")
        proposal = propose(ann, tenant=acme, role="owner")

        outcomes = together(lambda worker: approve(proposal, [ben, cid][worker]), workers=2)

        assert [type(each) for each in outcomes].count(AccessRefused) == 1
        assert Invitation.objects.count() == 1
        assert AuditEvent.objects.filter(action="access.approved").count() == 1

    @pytest.mark.django_db(transaction=True)
    def test_a_power_that_ends_beside_an_approval_counts_or_does_not(self, acme, ann, ben):
        proposal = propose(ann, tenant=acme, role="owner")

        def act(worker):
            if worker:
                return staff.end(user_id=ben.pk, actor=SYSTEM, now=TOMORROW)
            return approve(proposal, ben)

        approved, _ended = together(act, workers=2)

        is_refused = isinstance(approved, NotASecondPerson)
        assert is_refused or isinstance(approved, AccessProposal)
        assert Invitation.objects.exists() != is_refused
        assert StaffPower.objects.get(user=ben).ended_at == TOMORROW


class TestTheDatabase:
    def test_approves_nothing_early_or_by_one(self, acme, ann, ben):
        proposal = propose(ann, tenant=acme, role="owner")
        rows = AccessProposal.objects.filter(pk=proposal.pk)

        for who, when in ((ben, NOW), (ann, TOMORROW)):
            with pytest.raises(DatabaseError), transaction.atomic():
                rows.update(decision="approved", decided_by=who, decided_at=when)
        with pytest.raises(DatabaseError), transaction.atomic():
            rows.update(email="mine@ballast.example")


class TestDesk:
    ADD = "/admin/tenants/accessproposal/add/"

    def test_one_proposes_and_another_one_approves(self, acme, dana, ann, ben):
        sent = {"kind": "member", "email": "lee@acme.example", "tenant": acme.pk, "role": "owner"}
        browser_of(ann).post(
            self.ADD, {**sent, "new_email": "", "reason": "Asked", "is_emergency": "on"}
        )

        proposal = AccessProposal.objects.get()
        page = f"/admin/tenants/accessproposal/{proposal.pk}/approve/"
        assert "is invited into Acme as owner" in browser_of(ben).get(page).content.decode()
        browser_of(ben).post(page, {"reason": "Called back"})

        assert Invitation.objects.get().email == "lee@acme.example"

    def test_warns_of_an_address_that_is_not_what_it_seems(self, acme, dana, ann, ben):
        proposal = propose(ann, tenant=acme, role="owner", email="lee@\u0430cme.example")

        page = f"/admin/tenants/accessproposal/{proposal.pk}/approve/"
        assert "(lee@xn--cme-5cd.example)" in browser_of(ben).get(page).content.decode()
        ((_, context),) = mails("access_by_support")
        assert facts(context)["Person"] == "“lee@\u0430cme.example” (lee@xn--cme-5cd.example)"

    def test_is_for_those_who_may(self, acme, ann, staff_with):
        proposal = propose(ann, tenant=acme, role="owner")
        lee = staff_with("tenants.view_accessproposal", "tenants.change_user")

        page = f"/admin/tenants/accessproposal/{proposal.pk}/approve/"
        assert lee.get(self.ADD).status_code == 403
        assert lee.post(page, {"reason": "Mine"}).status_code == 403
        assert_open(proposal)

    def test_waits_at_home(self, acme, ann):
        propose(ann, tenant=acme, role="owner")

        assert (
            "Proposals of access to decide: 1." in browser_of(ann).get("/admin/").content.decode()
        )
