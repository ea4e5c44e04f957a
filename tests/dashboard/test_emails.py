"""Every e-mail, as text and as HTML: who, how much, from where, until when, what to do."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core import mail as outbox

from common import mail

TENANT = "Smith & Sons"
APPROVAL: dict[str, Any] = {
    "kind": "funding",
    "holder_name": "Acme Inc",
    "tenant_name": TENANT,
    "amount": 1_250_000,
    "bank_name": "First Platypus Bank",
    "last4": "6789",
    "reason": "The available balance fell below $2,000.00.",
    "requested_at": "2026-11-20T15:04:00Z",
    "expires_at": "2026-11-23T15:04:00Z",
    "approver_email": "dana@acme.example",
    "approval_id": "cnf_1",
    "link": "https://ballast.example/confirm/secret/",
}
WEBHOOK: dict[str, Any] = {
    "tenant_name": TENANT,
    "endpoint_id": "wh_1",
    "url": "https://hooks.example.com/in",
    "failing_since": "2026-11-19T15:04:00Z",
    "off_after_days": 5,
}
CONTEXTS: dict[str, dict[str, Any]] = {
    "account_changed": {
        "what": "A passkey was added",
        "at": "2026-11-20T15:04:00Z",
        "address": "198.51.100.7",
        "approves_from": "2026-11-21T15:04:00Z",
        "email": "dana@acme.example",
    },
    "address_changed": {
        "before": "dana@acme.example",
        "at": "2026-11-20T15:04:00Z",
        "email": "dana@acme.example",
    },
    "staff_alarm": {
        "what": "A superuser signed in",
        "facts": [("Who", "root@ballast.example")],
        "at": "2026-11-20T15:04:00Z",
        "email": "lee@ballast.example",
    },
    "work_alarm": {
        "what": "November 16, 2026 is not closed",
        "facts": [("Rail", "ach"), ("Why", "There is no statement of the account ··6789 yet.")],
        "page": "desk:reconciliation",
        "at": "2026-11-20T15:04:00Z",
        "email": "lee@ballast.example",
    },
    "access_changed": {
        "tenant_name": TENANT,
        "what": "lee@acme.example joined as Owner",
        "facts": [{"label": "Before", "value": "Viewer"}],
        "by": "dana@acme.example",
        "at": "2026-11-20T15:04:00Z",
        "approves_from": "2026-11-21T15:04:00Z",
        "page": "dashboard:team",
        "email": "dana@acme.example",
    },
    "membership_ended": {
        "tenant_name": TENANT,
        "at": "2026-11-20T15:04:00Z",
        "own": False,
        "email": "lee@acme.example",
    },
    "access_by_support": {
        "facts": [("Person", "lee@acme.example"), ("Organization", TENANT), ("Role", "Owner")],
        "waits_until": "2026-11-21T15:04:00Z",
        "is_over": False,
        "invited": "",
        "at": "2026-11-20T15:04:00Z",
        "email": "dana@acme.example",
    },
    "seal_published": {
        "line": {
            "kind": "ballast.seals",
            "round": 7,
            "mac": "0f" * 32,
            "publishedAt": "2026-11-20T15:04:00Z",
        },
        "text": "one line of JSON",
    },
    "authorization_copy": {
        "tenant_name": TENANT,
        "authorization_id": "dau_1",
        "bank_name": "First Platypus Bank",
        "last4": "6789",
        "holder_name": "Jo <b>Doe</b>",
        "text": "I authorize Acme to debit my account for as long as I do not revoke it. " * 8,
        "amount_rule": "At most $500.00 each time, whenever the balance is low.",
        "accepted_at": "2026-11-20T15:04:00Z",
        "given_by": "dana@acme.example",
        "revocation": "In the dashboard, under Bank accounts, Authorizations.",
    },
    "auto_funding_paused": {
        "tenant_name": TENANT,
        "reason": "The bank answered R03, no account.",
        "advice": "Use another bank account.",
        "paused_until": None,
        "available": 5_000,
    },
    "auto_funding_skipped": {
        "tenant_name": TENANT,
        "reason": "The monthly limit is used up.",
        "available": 5_000,
        "threshold": 10_000,
        "amount": 50_000,
    },
    "balance_low": {
        "tenant_name": TENANT,
        "available": 5_000,
        "pending": 0,
        "threshold": 10_000,
    },
    "confirmation_decided": {
        **APPROVAL,
        "state": "declined",
        "decided_by": "dana@acme.example",
        "decided_at": "2026-11-20T16:00:00Z",
        "decline_reason": "Not this month",
        "subject_id": "ftx_1",
    },
    "confirmation_reminder": APPROVAL,
    "confirmation_request": APPROVAL,
    "account_corrected": {
        "tenant_name": TENANT,
        "is_recipient": False,
        "bank_name": "Chase",
        "last4": "7001",
        "was": "6001",
        "what": "account number",
        "account_id": "fs_1",
    },
    "funding_returned": {
        **APPROVAL,
        "return_code": "R01",
        "return_reason": "Insufficient funds",
        "advice": "Make sure the account holds enough.",
        "was_completed": True,
        "available": -5_000,
        "funding_transaction_id": "ftx_1",
    },
    "invitation": {
        "tenant_name": TENANT,
        "invited_by": "Dana Doe",
        "role": "Approver",
        "email": "new@acme.example",
        "expires_at": "2026-11-27T15:04:00Z",
        "link": "https://ballast.example/join/secret/",
    },
    "enrolment": {
        "email": "dana@acme.example",
        "link": "https://ballast.example/e/",
        "minutes": 15,
        "at": "2026-11-20T15:04:00Z",
        "address": "198.51.100.7",
    },
    "staff_enrolment": {"email": "sam@ballast.example", "link": "https://ballast.example/e/"},
    "password_reset": {"email": "dana@acme.example", "link": "https://ballast.example/reset/"},
    "review": {
        "tenant_name": TENANT,
        "noun": "payment",
        "what": "held",
        "amount": 1_250_000,
        "bank_name": "First Platypus Bank",
        "last4": "6789",
        "reference": "pay_1",
    },
    "safeguard_changed": {
        "tenant_name": TENANT,
        "changed_by": "owner@acme.example",
        "changed_at": "2026-11-20T15:04:00Z",
        "changes": [{"what": "Approval threshold", "before": "$500.00", "after": "none"}],
        "approver_email": "dana@acme.example",
    },
    "safeguard_waiting": {
        "tenant_name": TENANT,
        "changed_by": "owner@acme.example",
        "counts_at": "2026-11-21T15:04:00Z",
        "changed_at": "2026-11-20T15:04:00Z",
        "changes": [{"what": "Approval threshold", "before": "$500.00", "after": "none"}],
        "approver_email": "dana@acme.example",
    },
    "webhook_disabled": {**WEBHOOK, "failing_since": None, "reason": "gone"},
    "webhook_failing": {**WEBHOOK, "days": 1},
}


def sent(template, **changes):
    """The message as it leaves: subject, text part, HTML part."""
    mail.send(template=template, to="dana@acme.example", context={**CONTEXTS[template], **changes})
    message = outbox.outbox[-1]
    assert isinstance(message, outbox.EmailMultiAlternatives)
    return message.subject, message.body, str(message.alternatives[0][0])


def test_a_mail_says_that_nobody_wrote_it():
    sent("password_reset")

    assert outbox.outbox[-1].message()["Auto-Submitted"] == "auto-generated"


def test_every_template_is_tried_here():
    folder = Path(settings.BASE_DIR) / "templates" / "email"
    ours = {path.parent.name for path in folder.glob("*/subject.txt")}

    assert ours == set(CONTEXTS)


@pytest.mark.parametrize("template", sorted(CONTEXTS))
class TestEveryMessage:
    def test_has_one_line_of_subject_and_no_markup_in_its_text(self, template):
        subject, text, _html = sent(template)

        assert subject
        assert "&amp;" not in subject + text
        assert "{" not in subject + text
        assert all(len(line) <= 80 or "://" in line for line in text.splitlines())

    def test_escapes_what_people_typed(self, template):
        _subject, _text, html = sent(template)

        assert "{{" not in html
        assert "{%" not in html
        assert "Smith & Sons" not in html

    def test_fetches_nothing_and_says_what_we_never_ask_for(self, template):
        _subject, text, html = sent(template)

        assert "<img" not in html
        assert "<script" not in html
        assert "url(" not in html
        for part in (text, html):
            assert "never asks for a password or an account number" in part


LONG = "The Very Long Name of a Company & Sons of Springfield, Massachusetts, Inc."


@pytest.mark.parametrize("template", sorted(CONTEXTS))
@pytest.mark.parametrize("name", [TENANT, LONG])
def test_a_sentence_breaks_where_the_line_is_full(template, name):
    """And not where its template happened to, whatever is put into it. A line that begins with
    blanks is a fact, and one with an address alone is a link: these stand for themselves."""
    known = {key: name for key in ("tenant_name",) if key in CONTEXTS[template]}
    _subject, text, _html = sent(template, **known)

    lines = text.splitlines()
    for line, following in itertools.pairwise(lines):
        is_sentence = line and not line.startswith(" ") and "://" not in line and line != "--"
        if is_sentence and following and not following.startswith((" ", "Ballast never")):
            assert len(f"{line} {following.split()[0]}") > 72, (line, following)
    assert text.startswith(text.lstrip()[:1])
    assert "\n\n\n" not in text


def test_a_fact_that_is_long_goes_on_below_itself():
    reason = "The limit of the month is used up, and so is that of the day before yesterday."
    _subject, text, _html = sent("auto_funding_skipped", reason=reason)

    assert (
        "  Why         The limit of the month is used up, and so is that of the\n"
        "              day before yesterday.\n"
        "  Available   $50.00\n"
    ) in text


def test_what_was_agreed_to_keeps_its_own_lines():
    agreed = "I authorize Acme to debit my account:\n1. once a month,\n2. when I am asked."
    _subject, text, _html = sent("authorization_copy", text=agreed)

    assert f"\n\n{agreed}\n\n" in text


def test_what_a_program_reads_stays_on_its_line():
    line = '{"kind": "ballast.seals", ' + '"heads": ["' + "0f " * 60 + '"]}'
    _subject, text, _html = sent("seal_published", text=line)

    assert line in text.splitlines()


@pytest.mark.parametrize("template", sorted(CONTEXTS))
class TestLooks:
    def test_addresses_can_be_followed_and_read_in_the_dark(self, template):
        """Programs are told to make no links by themselves, and their blue is no color of ours."""
        _subject, _text, html = sent(template)

        body = html.partition("<body")[2]
        links = re.findall(r"<a [^>]*>", body)
        assert [
            link for link in links if 'class="link"' not in link and "#ffffff" not in link
        ] == []
        assert f"{settings.BASE_URL}/" not in re.sub(r"<a .*?</a>", "", body, flags=re.DOTALL)

    def test_what_is_said_keeps_away_from_its_heading(self, template):
        _subject, _text, html = sent(template)

        said = html.partition("</h1>")[2].lstrip()
        assert (
            not said.startswith('<p style="margin:0 ') or "font-size:32px" in said.partition(">")[0]
        )


@pytest.mark.parametrize("template", ["confirmation_request", "confirmation_reminder"])
class TestQuestion:
    def test_says_everything_an_approver_needs(self, template):
        subject, text, html = sent(template)

        assert "$12,500.00" in subject
        for part in (text, html):
            assert "$12,500.00" in part
            assert "First Platypus Bank ending in 6789" in part
            assert "The available balance fell below $2,000.00." in part
            assert "Nov 23, 2026, 10:04 AM EST" in part
            assert "https://ballast.example/confirm/secret/" in part
            assert "no money moves" in " ".join(part.split())

    def test_puts_the_link_on_a_line_of_its_own(self, template):
        _subject, text, _html = sent(template)

        assert "https://ballast.example/confirm/secret/" in text.splitlines()

    def test_without_a_link_says_where_to_sign_in(self, template):
        _subject, text, html = sent(template, kind="payment", link=None)

        assert f"{settings.BASE_URL}/dashboard/approvals/cnf_1" in text.splitlines()
        for part in (text, html):
            assert "/dashboard/approvals/cnf_1" in part
            assert "/confirm/" not in part
            assert "This e-mail alone cannot approve it" in " ".join(part.split())


class TestOutcome:
    @pytest.mark.parametrize(
        ("state", "subject", "sentence"),
        [
            ("approved", "Approved: $12,500.00", "transfer from the bank starts now"),
            ("declined", "Declined: $12,500.00", "No money moves"),
            ("expired", "Expired: $12,500.00", "No money moves"),
            ("superseded", "Withdrawn: $12,500.00", "No money moves"),
        ],
    )
    def test_is_named_in_subject_and_text(self, state, subject, sentence):
        title, text, html = sent("confirmation_decided", state=state)

        assert title == f"{subject} for {TENANT}"
        assert sentence in text
        assert sentence in html

    def test_never_contains_the_link(self):
        assert "confirm/secret" not in "".join(sent("confirmation_decided"))


class TestWayOn:
    @pytest.mark.parametrize(
        ("template", "changes", "path"),
        [
            ("auto_funding_paused", {}, "/dashboard/auto-funding"),
            ("auto_funding_skipped", {}, "/dashboard/auto-funding"),
            ("authorization_copy", {}, "/dashboard/bank-accounts/authorizations/dau_1"),
            ("account_corrected", {}, "/dashboard/bank-accounts"),
            ("account_corrected", {"is_recipient": True}, "/dashboard/recipients"),
            ("funding_returned", {}, "/dashboard/funding/ftx_1"),
            ("review", {}, "/dashboard/payments/pay_1"),
            ("review", {"noun": "funding", "reference": "ftx_1"}, "/dashboard/funding/ftx_1"),
            ("webhook_disabled", {}, "/dashboard/webhooks/wh_1"),
            ("webhook_failing", {}, "/dashboard/webhooks/wh_1"),
        ],
    )
    def test_leads_to_the_page_where_something_can_be_done(self, template, changes, path):
        _subject, text, html = sent(template, **changes)

        assert f"{settings.BASE_URL}{path}" in text.splitlines()
        assert f'href="{settings.BASE_URL}{path}"' in html


class TestPause:
    def test_until_a_person_acts(self):
        _subject, text, _html = sent("auto_funding_paused")

        assert "when somebody resumes it" in text

    def test_until_a_moment(self):
        _subject, text, html = sent("auto_funding_paused", paused_until="2026-11-20T16:04:00Z")

        assert "Nov 20, 2026, 11:04 AM EST, automatically" in text
        assert "Nov 20, 2026, 11:04 AM EST" in html


class TestReturn:
    @pytest.mark.parametrize(
        ("was_completed", "sentence"),
        [(True, "so we took it out of the balance again"), (False, "nothing was taken out")],
    )
    def test_says_whether_the_balance_fell(self, was_completed, sentence):
        _subject, text, html = sent("funding_returned", was_completed=was_completed)

        assert sentence in " ".join(text.split())
        assert sentence in html
        assert "−$50.00" in text


class TestWebhookTrouble:
    def test_is_counted_in_days(self):
        assert sent("webhook_failing", days=1)[0].endswith("has failed for 1 day")
        assert sent("webhook_failing", days=3)[0].endswith("has failed for 3 days")

    @pytest.mark.parametrize(
        ("reason", "sentence"), [("gone", "answered 410 Gone"), ("failing", "for 5 days")]
    )
    def test_ends_with_the_reason(self, reason, sentence):
        _subject, text, html = sent("webhook_disabled", reason=reason)

        assert sentence in text
        assert sentence in html
