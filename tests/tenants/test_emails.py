"""The mail outbox, against a real SMTP server."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import transaction

from common import leases
from common.audits import Scope
from tenants import actors, invariants
from tenants.models import OutgoingEmail, Role, User
from tenants.services import emails, invitations
from tests.builders import NOW, make_member, stored_invitation
from tests.tenants import mail_server

pytestmark = pytest.mark.django_db

TEMPLATE = "auto_funding_skipped"
CONTEXT = {
    "tenant_name": "Acme",
    "reason": "The monthly limit is used up.",
    "available": 5_000,
    "threshold": 10_000,
    "amount": 50_000,
}
MINUTE = timedelta(minutes=1)


@pytest.fixture
def mailbox(settings):
    with mail_server.running(settings) as box:
        yield box


@pytest.fixture
def builds():
    """Registers a context builder for `TEMPLATE`, which has none of its own."""
    yield emails.builds_context(TEMPLATE)
    emails.builds_context(TEMPLATE)(lambda email, now: email.context)  # what none would do


def queue(to="dana@acme.example", **options):
    arguments = {"tenant_id": None, "to": to, "template": TEMPLATE, "context": CONTEXT, "now": NOW}
    return emails.queue(**{**arguments, **options})


class TestLinksThatOpenAnAccount:
    """A row of the outbox that names somebody else's address is nobody's wish."""

    @pytest.mark.parametrize("template", ["password_reset", "staff_enrolment", "enrolment"])
    def test_go_to_the_persons_own_address_alone(self, mailbox, acme, template):
        person = make_member(acme, email="dana@acme.example")
        User.objects.update(is_staff=True)
        context = {"user_id": person.pk, "browser": "b", "address": "192.0.2.1"}
        context["at"] = NOW.isoformat()
        queue("thief@evil.example", template=template, context=context)
        queue("dana@acme.example", template=template, context=context)

        emails.send_due(now=NOW)

        assert mailbox.recipients == ["dana@acme.example"]

    def test_of_an_invitation_go_to_whom_it_invites(self, mailbox, acme):
        owner = make_member(acme, email="dana@acme.example")
        invitations.invite(
            tenant_id=acme.pk,
            email="new@acme.example",
            role=Role.VIEWER,
            actor=actors.user(owner.pk),
            now=NOW,
        )
        stored = stored_invitation()
        OutgoingEmail.objects.filter(to="new@acme.example").update(to="thief@evil.example")

        emails.send_due(now=NOW)

        assert "thief@evil.example" not in mailbox.recipients
        assert stored_invitation() == stored
        assert stored["digest"] == ""


class TestSending:
    def test_delivers_what_is_due_once(self, mailbox):
        message = queue()

        assert emails.send_due(now=NOW) == 1
        assert emails.send_due(now=NOW + timedelta(days=9)) == 0

        assert mailbox.recipients == ["dana@acme.example"]
        message.refresh_from_db()
        assert (message.sent_at, message.attempts, message.last_error) == (NOW, 1, "")
        assert message.next_attempt_at is None

    def test_sends_text_and_html_from_our_address(self, mailbox, settings):
        queue()
        emails.send_due(now=NOW)

        (message,) = mailbox.messages
        assert message["From"] == settings.DEFAULT_FROM_EMAIL
        assert [part.get_content_type() for part in message.get_payload()] == [
            "text/plain",
            "text/html",
        ]

    def test_waits_for_its_time(self, mailbox):
        queue(send_at=NOW + MINUTE)

        assert emails.send_due(now=NOW) == 0
        assert emails.send_due(now=NOW + MINUTE) == 1

    def test_goes_oldest_first_and_all_in_one_run(self, mailbox):
        for number in (3, 1, 2):
            queue(to=f"{number}@acme.example", send_at=NOW - number * MINUTE)

        assert emails.send_due(now=NOW) == 3
        assert mailbox.recipients == ["3@acme.example", "2@acme.example", "1@acme.example"]

    @pytest.mark.django_db(transaction=True)
    def test_is_part_of_the_transaction_that_causes_it(self, mailbox):
        with transaction.atomic():
            queue()
            transaction.set_rollback(True)

        assert emails.send_due(now=NOW) == 0
        assert not OutgoingEmail.objects.exists()


class TestRefused:
    def test_recipient_is_tried_by_the_schedule_and_then_given_up(self, mailbox):
        mailbox.refuses["dana@acme.example"] = "550 no such mailbox"
        message = queue()
        at, waits = NOW, []

        while True:
            assert emails.send_due(now=at) == 0
            message.refresh_from_db()
            if message.next_attempt_at is None:
                break
            waits.append(int((message.next_attempt_at - at) / MINUTE))
            assert emails.send_due(now=message.next_attempt_at - MINUTE / 60) == 0
            at = message.next_attempt_at

        assert waits == [1, 5, 15, 60, 180, 360, 720, 1440]
        assert (message.failed_at, message.attempts) == (at, 9)
        assert message.last_error == "SMTPRecipientsRefused"
        assert message.sent_at is None
        assert mailbox.messages == []

    def test_recipient_does_not_hold_up_the_others(self, mailbox):
        mailbox.refuses["gone@acme.example"] = "550 no such mailbox"
        queue(to="gone@acme.example", send_at=NOW - MINUTE)
        queue()

        assert emails.send_due(now=NOW) == 1
        assert mailbox.recipients == ["dana@acme.example"]

    def test_recipient_comes_through_later(self, mailbox):
        mailbox.refuses["dana@acme.example"] = "451 try again"
        message = queue()
        emails.send_due(now=NOW)
        mailbox.refuses.clear()

        assert emails.send_due(now=NOW + MINUTE) == 1
        message.refresh_from_db()
        assert (message.sent_at, message.last_error) == (NOW + MINUTE, "")

    def test_is_logged_without_the_address_or_the_text(self, mailbox, log):
        mailbox.refuses["dana@acme.example"] = "550 no such mailbox"
        message = queue()

        emails.send_due(now=NOW)

        (line,) = log.of("email_not_sent")
        assert (line["email_id"], line["reason"]) == (message.pk, "SMTPRecipientsRefused")
        assert "dana@acme.example" not in str(line)


class TestServerAway:
    def test_three_failures_end_the_run(self, settings, silent_server):
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", silent_server
        settings.EMAIL_TIMEOUT = 0.05
        for _ in range(5):
            queue()

        assert emails.send_due(now=NOW) == 0

        assert sorted(OutgoingEmail.objects.values_list("attempts", flat=True)) == [0, 0, 1, 1, 1]
        reasons = set(OutgoingEmail.objects.values_list("last_error", flat=True))
        assert reasons == {"", "SMTPServerDisconnected"}

    def test_a_worker_that_died_leaves_the_message_to_the_next(self, mailbox):
        queue()
        leases.claim(OutgoingEmail.objects.all(), now=NOW, limit=1)  # and dies

        assert emails.send_due(now=NOW) == 0
        assert emails.send_due(now=NOW + MINUTE) == 1


class TestBroken:
    def test_template_does_not_hold_up_the_others(self, mailbox, log):
        broken = queue(template="not_there", send_at=NOW - MINUTE)
        queue()

        assert emails.send_due(now=NOW) == 1

        broken.refresh_from_db()
        assert broken.last_error == "TemplateDoesNotExist"
        assert broken.next_attempt_at == NOW + MINUTE
        assert (
            "TemplateDoesNotExist: email/not_there/subject.txt"
            in (log.of("email_not_sent")[0]["exception"])
        )

    @pytest.mark.parametrize("to", ["a@b.example\nBcc: x@y.example", "a@b.example, x@y.example"])
    def test_address_reaches_nobody_else(self, mailbox, to):
        queue(to=to)

        emails.send_due(now=NOW)

        assert "x@y.example" not in str(mailbox.recipients)


class TestBuilder:
    def test_completes_the_context_at_the_last_moment(self, mailbox, builds):
        @builds
        def build(email, now):
            assert now == NOW
            return {**email.context, "reason": "Built for this try."}

        message = queue()
        emails.send_due(now=NOW)

        text = mailbox.messages[0].get_payload()[0].get_payload(decode=True).decode()
        assert "Built for this try." in text
        message.refresh_from_db()
        assert message.context == CONTEXT

    def test_drops_a_message_whose_reason_is_gone(self, mailbox, builds):
        builds(lambda email, now: None)
        message = queue()

        emails.send_due(now=NOW)

        message.refresh_from_db()
        assert (message.sent_at, message.failed_at) == (None, None)
        assert (message.next_attempt_at, message.last_error) == (None, "no longer needed")
        assert mailbox.messages == []

    def test_whose_reason_is_gone_is_no_damage(self, mailbox, builds):
        builds(lambda email, now: None)
        queue()

        emails.send_due(now=NOW)

        assert list(invariants.check(Scope(full=True))) == []

    def test_that_fails_is_tried_again(self, mailbox, builds):
        @builds
        def build(email, now):
            raise ZeroDivisionError

        message = queue()

        assert emails.send_due(now=NOW) == 0

        message.refresh_from_db()
        assert (message.last_error, message.next_attempt_at) == (
            "ZeroDivisionError",
            NOW + MINUTE,
        )
