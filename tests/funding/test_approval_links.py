"""The links that approvers get, and what they show."""

from __future__ import annotations

import hashlib
import re
from datetime import timedelta

import pytest

from approvals import answers, links, selectors
from approvals.errors import UnknownApproval
from funding.models import ConfirmationLink
from funding.services.approval_policy import POLICY
from tenants.models import OutgoingEmail
from tenants.services import emails
from tests.builders import NOW
from tests.funding.asking import (
    BOSS,
    CFO,
    END,
    HOUR,
    approve,
    decline,
    page_of,
    sent,
    token_of,
    untouched,
)


def link_in(body):
    """The token of the magic link in a mail."""
    (token,) = re.findall(r"/confirm/([^/\s]+)/", body)
    return token


class TestLinks:
    def test_each_mail_brings_its_own_link_and_only_digests_are_kept(self, acme, approval):
        bodies = sent("confirmation_request")

        tokens = {to: link_in(body) for to, body in bodies.items()}
        assert set(tokens) == {BOSS, CFO}
        assert tokens[BOSS] != tokens[CFO]
        kept = ConfirmationLink.objects.values_list("approver_email", "digest")
        assert set(kept) == {
            (to, hashlib.sha256(token.encode()).hexdigest()) for to, token in tokens.items()
        }
        stored = str(list(OutgoingEmail.objects.values("context", "last_error")))
        assert not any(token in stored for token in tokens.values())

    def test_the_mail_shows_what_is_decided(self, acme, approval):
        body = " ".join(sent("confirmation_request")[BOSS].split())

        for fact in ("Acme", "$500.00", approval.source.last4, approval.reason, BOSS):
            assert fact in body

    def test_a_mail_about_a_closed_approval_is_dropped(self, acme, approval):
        approve(approval)

        assert sent("confirmation_request").get(BOSS) is None
        dropped = OutgoingEmail.objects.filter(template="confirmation_request")
        assert set(dropped.values_list("sent_at", "last_error")) == {(None, "no longer needed")}

    def test_a_mail_that_comes_too_late_is_dropped(self, acme, approval):
        emails.send_due(now=END)

        assert not ConfirmationLink.objects.exists()

    def test_is_long_random_and_built_from_the_setting(self, approval, settings):
        settings.BASE_URL = "https://ballast.example"

        address = links.mint(POLICY, approval, approver_email=BOSS, now=NOW)

        assert re.fullmatch(r"https://ballast\.example/confirm/[0-9A-Za-z_-]{43}/", address)


class TestLookUp:
    def test_shows_the_approval_to_whoever_holds_the_link(self, approval):
        view = page_of(token_of(approval))

        assert view == selectors.ApprovalView(
            id=approval.pk,
            kind="funding",
            tenant_id=approval.tenant_id,
            tenant_name="Acme",
            amount=50_000,
            holder_name="Acme Inc",
            bank_name=approval.source.bank_name,
            last4=approval.source.last4,
            reason=approval.reason,
            requested_at=NOW,
            expires_at=END,
            approvers=(BOSS, CFO),
            approver_email=BOSS,
            state="open",
            decided_by="",
            decided_at=None,
            decline_reason="",
            subject_id=approval.funding_id,
        )

    def test_looking_changes_nothing(self, approval):
        token = token_of(approval)

        for _ in range(3):
            selectors.by_link(token=token, now=NOW)

        assert untouched(approval)

    def test_shows_everybody_who_decided_and_when(self, approval):
        other = token_of(approval, CFO)
        decline(approval, now=NOW + HOUR)

        view = page_of(other, NOW + 2 * HOUR)

        assert (view.state, view.decided_by, view.decided_at, view.decline_reason) == (
            "declined",
            BOSS,
            NOW + HOUR,
            "Not this month",
        )
        assert view.approver_email == CFO

    def test_is_over_the_moment_the_time_is_up(self, approval):
        token = token_of(approval)

        before = page_of(token, END - timedelta(microseconds=1))
        after = page_of(token, END)

        assert (before.state, after.state) == ("open", "expired")

    @pytest.mark.parametrize(
        "token", ["", "a", "a" * 43, "a" * 44, "a" * 10_000, "é" * 43, "\0" * 43, "\ud800" * 43]
    )
    def test_knows_nothing_of_other_tokens(self, approval, token):
        with pytest.raises(UnknownApproval):
            page_of(token)
        with pytest.raises(UnknownApproval):
            answers.approve(token=token, typed_amount="$500.00", now=NOW)
        with pytest.raises(UnknownApproval):
            answers.decline(token=token, reason="no", now=NOW)

    def test_one_changed_character_is_another_token(self, approval):
        token = token_of(approval)
        flipped = token[:-1] + ("A" if token[-1] != "A" else "B")

        with pytest.raises(UnknownApproval):
            page_of(flipped)
