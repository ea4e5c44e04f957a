"""A large funding that approvers are asked about, and their answers."""

from __future__ import annotations

from datetime import timedelta

from django.core import mail

from approvals import answers, links, selectors
from funding.models import FundingTransaction
from funding.services.approval_policy import POLICY
from tenants.actors import user
from tenants.models import OutgoingEmail
from tenants.services import emails
from tests.builders import NOW

HOUR = timedelta(hours=1)
END = NOW + 72 * HOUR
BOSS = "boss@acme.example"
CFO = "cfo@acme.example"
TEAM = user("usr_1")


def token_of(approval, email=BOSS, *, now=NOW):
    address = links.mint(POLICY, approval, approver_email=email, now=now)
    return address.rstrip("/").rpartition("/")[2]


def approve(approval, *, typed="$500.00", now=NOW, email=BOSS):
    answers.approve(token=token_of(approval, email, now=now), typed_amount=typed, now=now)


def decline(approval, *, reason="Not this month", now=NOW, email=BOSS):
    answers.decline(token=token_of(approval, email, now=now), reason=reason, now=now)


def page_of(token, now=NOW):
    """What the page of a known link shows."""
    return selectors.by_link(token=token, now=now)


def outcome(approval):
    approval.refresh_from_db()
    funding = FundingTransaction.objects.get(pk=approval.funding_id)
    return approval.decision, approval.decided_by, funding.status, funding.failure_code


def untouched(approval):
    return outcome(approval) == ("open", "", "awaiting_confirmation", "")


def sent(template):
    """The text of each mail of `template` that goes out now, by address."""
    wanted = set(OutgoingEmail.objects.filter(template=template).values_list("to", flat=True))
    mail.outbox.clear()
    emails.send_due(now=NOW)
    return {message.to[0]: str(message.body) for message in mail.outbox if message.to[0] in wanted}
