"""Whoever approves now decides what is open: after a change of approvers, the new ones are asked,
and the former ones are out."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import transaction

from approvals import answers, deciders, requests, selectors
from approvals.errors import FormerApprover, NotAnApprover
from approvals.policies import Approver
from funding.models import Confirmation, ConfirmationLink
from funding.services import approval_sweeps, approvals, auto_funding_config, sandbox, topups
from funding.services.auto_funding_config import Changes
from funding.services.lifecycle import TopUp
from networks.sandbox.bank import SandboxBank
from tenants.actors import SYSTEM, api_key, user
from tenants.models import AuditEvent, Membership, Mode, OutgoingEmail, Role
from tenants.services import closing, emails, invitations, members
from tests.builders import (
    NOW,
    mails_of,
    make_auto_funding,
    make_member,
    make_source,
    make_tenant,
)
from tests.funding.asking import (
    BOSS,
    CFO,
    HOUR,
    TEAM,
    approve,
    decline,
    outcome,
    page_of,
    sent,
    token_of,
    untouched,
)
from tests.funding.test_approval_links import link_in

NEW = "new@acme.example"
REQUEST, REMINDER, DECIDED = "confirmation_request", "confirmation_reminder", "confirmation_decided"
KEY = api_key("key_1")


def name(tenant, *addresses, now=NOW, actor=KEY):
    """Let auto-funding's approvers be these."""
    new: Changes = {"confirmation_emails": list(addresses)}
    auto_funding_config.configure(tenant_id=tenant.pk, changes=new, actor=actor, now=now)


def top_up(tenant, amount, now=NOW):
    source = tenant.fundingsource_set.get()
    asked = topups.request(
        tenant_id=tenant.pk,
        mode=tenant.mode,
        topup=TopUp(source_id=source.pk, amount=amount),
        actor=TEAM,
        now=now,
    )
    return Confirmation.objects.get(funding=asked)


def sweep(now=NOW):
    """What the periodic task does, as often as workers do it."""
    approval_sweeps.sweep(now=now)
    approval_sweeps.sweep(now=now)


def asked(approval):
    """Whom the audit log says were asked later than at first."""
    lines = AuditEvent.objects.filter(action="confirmation.asked", subject_id=approval.subject_id)
    return [line.details["to"] for line in lines.order_by("created_at", "pk")]


def ask_about_top_ups(tenant, approvers):
    """A top-up of $500.00 that these people are asked about, if any."""
    make_source(tenant)
    make_auto_funding(
        tenant,
        enabled=False,
        confirmation_threshold=0,
        confirm_topups=True,
        confirmation_emails=approvers,
    )
    return top_up(tenant, 50_000)


@pytest.fixture
def waiting(acme):
    """A top-up of $500.00 that the boss was mailed about."""
    approval = ask_about_top_ups(acme, [BOSS])
    emails.send_due(now=NOW)
    return approval


class TestNamed:
    """Found: after the named approver changed, nobody could decide what was open."""

    def test_is_mailed_a_link_that_decides(self, acme, waiting):
        name(acme, NEW)
        sweep()

        token = link_in(sent(REQUEST)[NEW])
        answers.approve(token=token, typed_amount="$500.00", now=NOW)

        assert outcome(waiting) == ("approved", NEW, "reserved", "")
        assert asked(waiting) == [[NEW]]
        assert mails_of(acme, REQUEST) == [BOSS, NEW]

    def test_may_decline(self, acme, waiting):
        name(acme, NEW)

        decline(waiting, email=NEW)

        assert outcome(waiting)[:2] == ("declined", NEW)

    def test_decides_signed_in_before_the_mail_was_sent(self, acme, waiting):
        person = make_member(acme, email=NEW, role=Role.VIEWER)
        name(acme, NEW)
        view, may_answer = selectors.find(
            tenant_id=acme.pk, approval_id=waiting.pk, email=NEW.upper(), now=NOW
        )

        answers.approve_signed_in(
            tenant_id=acme.pk,
            approval_id=waiting.pk,
            by=Approver(email=NEW, actor=user(person.pk)),
            typed_amount="500",
            now=NOW,
        )

        assert (view.approvers, may_answer) == ((NEW,), True)
        assert outcome(waiting)[:2] == ("approved", NEW)

    @pytest.mark.parametrize("is_asked", [False, True])
    def test_ends_the_former_ones_link(self, acme, waiting, is_asked):
        old = token_of(waiting)
        name(acme, NEW)
        if is_asked:
            sweep()

        with pytest.raises(FormerApprover):
            page_of(old)
        with pytest.raises(FormerApprover):
            answers.approve(token=old, typed_amount="$500.00", now=NOW)
        with pytest.raises(FormerApprover):
            answers.decline(token=old, reason="no", now=NOW)

        assert untouched(waiting)

    def test_ends_what_the_former_one_may_signed_in(self, acme, waiting):
        boss = make_member(acme, email=BOSS, role=Role.OWNER)
        name(acme, NEW)
        by = Approver(email=BOSS, actor=user(boss.pk))
        what = {"tenant_id": acme.pk, "approval_id": waiting.pk, "by": by, "now": NOW}

        with pytest.raises(NotAnApprover):
            answers.approve_signed_in(**what, typed_amount="500")
        with pytest.raises(NotAnApprover):
            answers.decline_signed_in(**what, reason="no")

        assert untouched(waiting)
        assert not selectors.find(tenant_id=acme.pk, approval_id=waiting.pk, email=BOSS, now=NOW)[1]

    def test_is_told_nothing_more_once_another_is_named(self, acme, waiting):
        name(acme, NEW)
        sweep()
        name(acme, CFO)
        sweep()

        emails.send_due(now=NOW)
        decline(waiting, email=CFO)

        dropped = OutgoingEmail.objects.get(template=REQUEST, to=NEW)
        assert (dropped.sent_at, dropped.last_error) == (None, "no longer needed")
        assert mails_of(acme, DECIDED) == []
        assert asked(waiting) == [[NEW], [CFO]]

    def test_is_asked_once_also_who_comes_back(self, acme, waiting):
        old = token_of(waiting)
        for address in (NEW, BOSS, NEW, BOSS):
            name(acme, address)
            sweep()

        assert mails_of(acme, REQUEST) == [BOSS, NEW]
        assert page_of(old).state == "open"

    def test_and_several_for_several_requests_get_links_of_their_own(self, acme, waiting):
        other = top_up(acme, 70_000)
        name(acme, BOSS, CFO, NEW)
        sweep()
        emails.send_due(now=NOW)

        for approval in (waiting, other):
            assert asked(approval) == [[CFO, NEW]]
            to = ConfirmationLink.objects.filter(confirmation=approval)
            assert sorted(to.values_list("approver_email", flat=True)) == [BOSS, CFO, NEW]
        approve(waiting, email=NEW)
        assert mails_of(acme, DECIDED) == [BOSS, CFO]

    def test_is_asked_once_after_a_worker_died_before_its_commit(self, acme, waiting):
        name(acme, NEW)
        with transaction.atomic():
            approval_sweeps.sweep(now=NOW)
            transaction.set_rollback(True)
        assert (asked(waiting), mails_of(acme, REQUEST)) == ([], [BOSS])

        sweep()

        assert (asked(waiting), mails_of(acme, REQUEST)) == ([[NEW]], [BOSS, NEW])

    def test_in_other_capitals_is_the_same_person(self, acme, waiting):
        name(acme, BOSS.upper())
        sweep()

        assert asked(waiting) == []
        approve(waiting)
        assert outcome(waiting)[:2] == ("approved", BOSS)

    def test_is_not_asked_about_what_is_decided_or_over(self, acme, waiting):
        other = top_up(acme, 70_000)
        decline(other)
        name(acme, NEW)

        sweep(now=waiting.expires_at)

        assert mails_of(acme, REQUEST) == [BOSS, BOSS]
        assert outcome(waiting)[0] == "expired"

    def test_is_of_no_concern_to_other_tenants(self, acme, rival, waiting):
        make_source(rival)
        make_auto_funding(rival, enabled=False, confirmation_emails=[CFO])
        name(rival, NEW)
        sweep()

        assert asked(waiting) == []
        assert mails_of(rival, REQUEST) == []


class TestNobodyNamed:
    """Then the owners and approvers of the team decide."""

    @pytest.fixture
    def ann(self, acme):
        return make_member(acme, email="ann@acme.example", role=Role.OWNER)

    @pytest.fixture
    def waiting(self, acme, ann, waiting):
        name(acme)
        sweep()
        return waiting

    def change_role(self, acme, person, role):
        members.change_role(
            tenant_id=acme.pk,
            membership_id=Membership.objects.get(user=person).pk,
            role=role,
            actor=SYSTEM,
            now=NOW,
        )

    def test_they_are_asked_when_the_named_one_goes(self, acme, waiting):
        assert asked(waiting) == [["ann@acme.example"]]
        with pytest.raises(FormerApprover):
            approve(waiting)

        approve(waiting, email="ann@acme.example")

        assert outcome(waiting)[:2] == ("approved", "ann@acme.example")

    @pytest.mark.parametrize("role", [Role.OWNER, Role.APPROVER])
    def test_who_gets_the_role_is_asked(self, acme, waiting, role):
        ben = make_member(acme, email="ben@acme.example", role=Role.MEMBER)
        sweep()
        assert "ben@acme.example" not in mails_of(acme, REQUEST)

        self.change_role(acme, ben, role)
        sweep()

        approve(waiting, email="ben@acme.example")
        assert asked(waiting)[1:] == [["ben@acme.example"]]

    @pytest.mark.parametrize("change", ["role", "removed", "closed"])
    def test_who_loses_it_decides_nothing(self, acme, waiting, change):
        ben = make_member(acme, email="ben@acme.example", role=Role.OWNER)
        sweep()
        old = token_of(waiting, "ben@acme.example")
        if change == "role":
            self.change_role(acme, ben, Role.VIEWER)
        elif change == "removed":
            members.remove(
                tenant_id=acme.pk,
                membership_id=Membership.objects.get(user=ben).pk,
                actor=SYSTEM,
                now=NOW,
            )
        else:
            closing.close(user_id=ben.pk, actor=SYSTEM, now=NOW)

        with pytest.raises(FormerApprover):
            answers.approve(token=old, typed_amount="$500.00", now=NOW)

        approve(waiting, email="ann@acme.example")
        assert mails_of(acme, DECIDED) == []

    def test_a_changed_address_gets_a_link_of_its_own(self, acme, ann, waiting):
        old = token_of(waiting, ann.email)
        ann.email = "ann@new.example"
        ann.save()
        sweep()

        with pytest.raises(FormerApprover):
            page_of(old)
        approve(waiting, email="ann@new.example")

        assert asked(waiting)[1:] == [["ann@new.example"]]

    def test_who_is_only_invited_is_not_asked(self, acme, ann, waiting):
        invitations.invite(
            tenant_id=acme.pk,
            email="ben@acme.example",
            role=Role.OWNER,
            actor=user(ann.pk),
            now=NOW,
        )
        sweep()

        assert "ben@acme.example" not in mails_of(acme, REQUEST)
        with pytest.raises(FormerApprover):
            approve(waiting, email="ben@acme.example")

    def test_where_nobody_is_left_it_waits_for_whoever_comes(self, acme, ann, waiting):
        Membership.objects.filter(user=ann).delete()
        sweep()
        view, _ = selectors.find(tenant_id=acme.pk, approval_id=waiting.pk, email=BOSS, now=NOW)
        assert view.approvers == ()

        make_member(acme, email="zoe@acme.example", role=Role.OWNER)
        sweep()
        approve(waiting, email="zoe@acme.example")

        assert outcome(waiting)[:2] == ("approved", "zoe@acme.example")


class TestReminder:
    def test_goes_to_who_decides_now(self, acme, waiting):
        name(acme, NEW, now=NOW + HOUR)
        sweep(now=NOW + HOUR)

        sweep(now=NOW + 48 * HOUR)

        assert mails_of(acme, REMINDER) == [NEW]

    def test_that_waits_for_its_turn_is_dropped_for_who_decides_no_more(self, acme, waiting):
        sweep(now=NOW + 48 * HOUR)
        name(acme, NEW, now=NOW + 48 * HOUR)

        emails.send_due(now=NOW + 48 * HOUR)

        mail = OutgoingEmail.objects.get(template=REMINDER)
        assert (mail.to, mail.sent_at, mail.last_error) == (BOSS, None, "no longer needed")

    def test_that_is_due_with_the_change_is_one_mail(self, acme, waiting):
        name(acme, NEW, now=NOW + 48 * HOUR)

        sweep(now=NOW + 48 * HOUR)

        mails = OutgoingEmail.objects.filter(to=NEW, template__startswith="confirmation_")
        assert [mail.template for mail in mails] == [REQUEST]


class TestAskingAgain:
    def test_asks_who_decides_now(self, acme, waiting):
        name(acme, NEW)

        told = approvals.resend(
            tenant_id=acme.pk, funding_id=waiting.funding_id, actor=TEAM, now=NOW + HOUR
        )
        sweep(now=NOW + HOUR)

        assert told == [NEW]
        assert mails_of(acme, REQUEST) == [BOSS, NEW]

    def test_a_loop_of_changes_fills_no_mailbox(self, acme, waiting, monkeypatch):
        assert requests.NEWLY_ASKED_A_DAY_MAX == 100
        monkeypatch.setattr(requests, "NEWLY_ASKED_A_DAY_MAX", 3)
        for number in range(6):
            name(acme, f"n{number}@acme.example")
            sweep()
            emails.send_due(now=NOW)

        def reached():
            mails = OutgoingEmail.objects.filter(template=REQUEST).exclude(sent_at=None)
            return sorted(mails.values_list("to", flat=True))

        assert reached() == [BOSS, *(f"n{number}@acme.example" for number in range(3))]

        emails.send_due(now=NOW + timedelta(minutes=61))

        assert reached()[-1] == "n5@acme.example"
        assert len(reached()) == 5  # those between were no approvers any more


class TestSandbox:
    def urls(self, acme, waiting):
        found = sandbox.magic_links(tenant_id=acme.pk, funding_id=waiting.funding_id, now=NOW)
        return {to: url.rstrip("/").rpartition("/")[2] for to, url in found.urls.items()}

    def test_hands_out_links_of_who_decides_now(self, acme, waiting):
        old = self.urls(acme, waiting)[BOSS]
        name(acme, NEW)

        links_now = self.urls(acme, waiting)

        assert set(links_now) == {NEW}
        with pytest.raises(FormerApprover):
            page_of(old)
        answers.approve(token=links_now[NEW], typed_amount="$500.00", now=NOW)
        assert outcome(waiting)[:2] == ("approved", NEW)

    def test_makes_somebody_up_only_while_there_is_nobody(self, acme, waiting):
        name(acme)
        made_up = self.urls(acme, waiting)
        assert set(made_up) == {deciders.MADE_UP_APPROVER}
        assert page_of(made_up[deciders.MADE_UP_APPROVER]).state == "open"

        name(acme, NEW)

        with pytest.raises(FormerApprover):
            page_of(made_up[deciders.MADE_UP_APPROVER])

    def test_makes_nobody_up_for_live_tenants(self, db, connect):
        connect(SandboxBank(), modes=("live",))
        tenant = make_tenant(mode=Mode.LIVE)
        approval = ask_about_top_ups(tenant, [])

        with pytest.raises(FormerApprover):
            page_of(token_of(approval, deciders.MADE_UP_APPROVER))
