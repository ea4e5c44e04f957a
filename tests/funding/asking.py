"""A large funding that approvers are asked about, and their answers."""

from __future__ import annotations

from datetime import timedelta

from django.core import mail

from approvals import decisions, links
from funding.models import FundingTransaction
from funding.services.confirmation_outcomes import MATTER
from tenants.actors import user
from tenants.models import OutgoingEmail
from tenants.services import emails
from tests.builders import NOW

HOUR = timedelta(hours=1)
END = NOW + 72 * HOUR
BOSS = "boss@acme.example"
CFO = "cfo@acme.example"
TEAM = user("usr_1")


def token_of(question, email=BOSS, *, now=NOW):
    address = links.mint(MATTER, question, approver_email=email, now=now)
    return address.rstrip("/").rpartition("/")[2]


def approve(question, *, typed="$500.00", now=NOW, email=BOSS):
    decisions.approve(token=token_of(question, email, now=now), typed_amount=typed, now=now)


def decline(question, *, reason="Not this month", now=NOW, email=BOSS):
    decisions.decline(token=token_of(question, email, now=now), reason=reason, now=now)


def page_of(token, now=NOW):
    """What the page of a known link shows."""
    view = decisions.look_up(token=token, now=now)
    assert view is not None
    return view


def outcome(question):
    question.refresh_from_db()
    funding = FundingTransaction.objects.get(pk=question.funding_id)
    return question.decision, question.decided_by, funding.status, funding.failure_code


def untouched(question):
    return outcome(question) == ("open", "", "awaiting_confirmation", "")


def sent(template):
    """The text of each mail of `template` that goes out now, by address."""
    wanted = set(OutgoingEmail.objects.filter(template=template).values_list("to", flat=True))
    mail.outbox.clear()
    emails.send_due(now=NOW)
    return {message.to[0]: str(message.body) for message in mail.outbox if message.to[0] in wanted}
