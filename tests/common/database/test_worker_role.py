"""Workers under their own role: every task does its work, and nothing that makes a person, a power
or a decision (decision 0190)."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.db import DatabaseError, ProgrammingError, connection, connections, transaction

from common.clock import utc_now
from common.database import job_doors, jobs
from config.beat import SCHEDULE
from config.celery import app
from tenants import link_tokens
from tenants.emails import queue_password_reset
from tenants.models import Invitation, OutgoingEmail, Role, User
from tenants.services import emails
from tests.builders import NOW
from tests.database import owner
from tests.settings import DATABASE_APPLICATION_ROLE

pytestmark = pytest.mark.django_db

TASKS = sorted({job["task"] for job in SCHEDULE.values()} | {"funding.evaluate_auto_funding"})
MAIL = """
INSERT INTO tenants_outgoingemail
    (id, tenant_id, "to", template, context, created_at, next_attempt_at, attempts, last_error,
     lease_version)
VALUES ('eml_00000000000000000000000001', NULL, %(to)s, %(template)s,
    jsonb_build_object('user_id', %(person)s::text), now(), now(), 0, '', 0)
"""
LINE = """
INSERT INTO tenants_auditevent
    (id, tenant_id, actor_type, actor_id, action, subject_id, details, staff_note, request_id,
     created_at)
VALUES ('aud_00000000000000000000000001', %(tenant)s, %(actor)s, '', %(action)s, 'key_1', '{}',
    '', '', now())
"""
STATE = "SELECT state FROM tenants_link_state_of_mail(%(mail)s)"


def make_person():
    return User.objects.create_user(email="ada@acme.example", password="four words make one")


def rows(statement, **values):
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return cursor.fetchall() if cursor.description else []


def as_worker(statement, **values):
    with job_doors.of(jobs.WORKER), transaction.atomic():
        return rows(statement, **values)


def refused(statement, **values):
    with pytest.raises(ProgrammingError, match=r"row-level security|permission denied"):
        as_worker(statement, **values)


@pytest.mark.parametrize("name", TASKS)
def test_each_task_works_under_the_role_and_no_other(name, acme, raw_log):
    """The product's own role may do nothing here, so whatever takes it fails."""
    app.loader.import_default_modules()
    with owner.as_owner():
        rows(f"REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {DATABASE_APPLICATION_ROLE}")
    values = {"tenant_id": acme.pk} if name == "funding.evaluate_auto_funding" else {}

    app.tasks[name](**values)

    assert "permission denied" not in raw_log.text
    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        rows("SELECT 1 FROM tenants_tenant")  # and it could do nothing indeed


class TestMails:
    def test_with_links_are_written_by_others_alone(self, acme):
        person = make_person()
        for template in ("password_reset", "staff_enrolment", "enrolment"):
            refused(MAIL, to=person.email, template=template, person=person.pk)

        as_worker(MAIL, to=person.email, template="balance_low", person=person.pk)

    def test_with_links_are_sent(self, mailoutbox):
        person = make_person()
        queue_password_reset(user=person, now=NOW)

        assert emails.send_due(now=NOW) == 1

        (mail,) = mailoutbox
        token = mail.body.partition(f"/{person.pk}-")[2].partition("/")[0]
        assert link_tokens.ResetTokens().check_token(person, token)

    def test_change_in_nothing_but_how_they_are_sent(self):
        email = waiting_mail()

        refused("UPDATE tenants_outgoingemail SET template = 'password_reset'")
        refused("UPDATE tenants_outgoingemail SET \"to\" = 'thief@evil.example'")
        refused("UPDATE tenants_outgoingemail SET context = '{}'")
        refused("DELETE FROM tenants_outgoingemail")

        email.refresh_from_db()
        assert (email.to, email.template) == ("ada@acme.example", "password_reset")


def waiting_mail():
    queue_password_reset(user=make_person(), now=NOW)
    return OutgoingEmail.objects.get()


class TestWhatALinkHangsOn:
    """A digest, of the person whom a mail brings a link, and of nobody else."""

    def test_is_told_for_a_mail_that_waits(self):
        email = waiting_mail()

        ((state,),) = as_worker(STATE, mail=email.pk)

        assert len(state) == 64
        assert User.objects.get().password not in state

    def test_is_not_told_once_it_was_sent(self):
        email = waiting_mail()
        emails.send_due(now=NOW)

        assert as_worker(STATE, mail=email.pk) == []

    @pytest.mark.parametrize(
        "change", [{"to": "thief@evil.example"}, {"template": "balance_low"}, {"context": {}}]
    )
    def test_is_not_told_for_another_mail(self, change):
        email = waiting_mail()
        OutgoingEmail.objects.filter(pk=email.pk).update(**change)

        assert as_worker(STATE, mail=email.pk) == []

    def test_is_not_told_for_a_closed_account(self):
        email = waiting_mail()
        User.objects.update(is_active=False)

        assert as_worker(STATE, mail=email.pk) == []

    def test_is_told_to_nobody_who_only_knows_an_id(self):
        refused("SELECT * FROM tenants_link_states('usr_x')")


class TestDecisions:
    """A worker ends what nobody decided; it decides nothing for anybody."""

    def test_lines_of_the_audit_log_say_it_was_the_product(self, acme):
        as_worker(LINE, tenant=acme.pk, actor="system", action="payment.expired")

        for actor in ("user", "api_key", "staff", "approver"):
            refused(LINE, tenant=acme.pk, actor=actor, action="api_key.taken_over")

    def test_an_invitation_is_accepted_by_nobody_in_a_worker(self, acme):
        Invitation.objects.create(
            tenant=acme, email="bea@acme.example", role=Role.OWNER, created_at=NOW, expires_at=NOW
        )

        as_worker("UPDATE tenants_invitation SET digest = 'd'")
        refused("UPDATE tenants_invitation SET accepted_at = now()")
        refused("UPDATE tenants_invitation SET role = 'owner'")
        refused("SELECT digest FROM tenants_invitation")


def test_without_a_login_tasks_work_as_the_product(settings):
    settings.DATABASE_JOBS = {}
    app.loader.import_default_modules()
    queue_password_reset(user=make_person(), now=utc_now())

    app.tasks["tenants.send_due_emails"]()

    assert OutgoingEmail.objects.get().sent_at is not None


def test_a_worker_process_follows(monkeypatch):
    """What Celery tells the process before it connects."""
    known = dict(connections.settings["default"])
    monkeypatch.setitem(connections.settings, "default", known)
    monkeypatch.setattr(connections, "close_all", lambda: None)

    job_doors.become(jobs.WORKER)

    assert known["USER"] == settings.DATABASE_JOBS[jobs.WORKER]["USER"]


class TestWhatPeopleDecided:
    @pytest.mark.parametrize(
        "change",
        [
            "payments_payment SET created_by_id = 'usr_1'",
            "payments_payment SET requires_confirmation = false",
            "funding_fundingtransaction SET requires_confirmation = false",
            "ach_outfile SET first_released_by = 'usr_1'",
            "ach_outfile SET released_by = 'usr_2'",
            "ach_achreversal SET decided_by = 'usr_1'",
            "ach_spokenanswer SET decided_by = 'usr_1'",
            "ach_originator SET daily_credit_max = NULL",
        ],
    )
    def test_are_not_a_workers(self, db, change):
        refused(f"UPDATE {change} WHERE false")


class TestLinksOfMails:
    def test_are_made_while_the_mail_waits_and_not_once_more(self, acme):
        person = make_person()
        queue_password_reset(user=person, now=NOW)
        mail = OutgoingEmail.objects.get(template="password_reset")
        assert as_worker(STATE, mail=mail.pk)

        emails.send_due(now=NOW)

        assert as_worker(STATE, mail=mail.pk) == []
        again = (
            "UPDATE tenants_outgoingemail SET next_attempt_at = '2099-01-01' WHERE id = %(mail)s"
        )
        with pytest.raises(DatabaseError, match="Cannot update rows"):
            as_worker(again, mail=mail.pk)
        assert as_worker(STATE, mail=mail.pk) == []
