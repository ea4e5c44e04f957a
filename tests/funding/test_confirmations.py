"""Asking approvers about a large funding, and what their answers do."""

from __future__ import annotations

import hashlib
import re
from datetime import timedelta

import pytest
from django.core import mail

from approvals import decisions, links
from approvals.errors import (
    AmountMismatch,
    ConfirmationClosed,
    ConfirmationResentRecently,
    UnknownConfirmation,
)
from funding.errors import FundingSourceNotAuthorized, FundingSourceUnusable
from funding.models import (
    AutoFundingConfig,
    Confirmation,
    ConfirmationLink,
    FundingEvent,
    FundingMethod,
    FundingTransaction,
)
from funding.services import (
    auto_funding,
    confirmation_sweeps,
    confirmations,
    sources,
    topups,
)
from funding.services.confirmation_outcomes import MATTER
from tenants.actors import SYSTEM, user
from tenants.errors import TenantSuspended
from tenants.models import AuditEvent, OutgoingEmail, Role
from tenants.services import accounts, emails
from tests.balance.builders import balance_of
from tests.builders import (
    NOW,
    mails_of,
    make_auto_funding,
    make_member,
    make_source,
    notices_of,
)

HOUR = timedelta(hours=1)
END = NOW + 72 * HOUR
BOSS = "boss@acme.example"
CFO = "cfo@acme.example"
TEAM = user("usr_1")


@pytest.fixture
def question(acme):
    """An automatic funding of $500.00 that boss and CFO are asked about."""
    make_source(acme)
    make_auto_funding(acme, confirmation_threshold=0, confirmation_emails=[BOSS, CFO])
    auto_funding.evaluate(tenant_id=acme.pk, now=NOW)
    return Confirmation.objects.get()


def token_of(question, email=BOSS):
    address = links.mint(MATTER, question, approver_email=email, now=NOW)
    return address.rstrip("/").rpartition("/")[2]


def approve(question, *, typed="$500.00", now=NOW, email=BOSS):
    decisions.approve(token=token_of(question, email), typed_amount=typed, now=now)


def decline(question, *, reason="Not this month", now=NOW, email=BOSS):
    decisions.decline(token=token_of(question, email), reason=reason, now=now)


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


def link_in(body):
    """The token of the magic link in a mail."""
    (token,) = re.findall(r"/confirm/([^/\s]+)/", body)
    return token


class TestRequest:
    def test_binds_the_question_to_the_terms(self, acme, question):
        funding = FundingTransaction.objects.get()

        assert (question.tenant, question.funding, question.amount) == (acme, funding, 50_000)
        assert question.source == funding.source
        assert question.approvers == [BOSS, CFO]
        assert question.expires_at == END
        assert question.reason == ("The balance of $0.00, with $0.00 on its way, is below $100.00.")
        assert mails_of(acme, "confirmation_request") == [BOSS, CFO]
        assert notices_of(acme, "confirmation.requested") == [
            {
                "confirmationId": question.pk,
                "fundingTransactionId": funding.pk,
                "amount": 50_000,
                "expiresAt": "2026-11-23T15:00:00.000000Z",
            }
        ]

    def test_asks_owners_and_approvers_where_nobody_is_named(self, acme):
        make_source(acme)
        make_auto_funding(acme, confirmation_threshold=0)
        make_member(acme, email="owner@acme.example", role=Role.OWNER)
        make_member(acme, email="approver@acme.example", role=Role.APPROVER)
        make_member(acme, email="member@acme.example", role=Role.MEMBER)
        gone = make_member(acme, email="gone@acme.example", role=Role.OWNER)
        gone.is_active = False
        gone.save()

        auto_funding.evaluate(tenant_id=acme.pk, now=NOW)

        assert Confirmation.objects.get().approvers == [
            "approver@acme.example",
            "owner@acme.example",
        ]

    def test_a_large_top_up_is_asked_about_where_the_tenant_wants_it(self, acme):
        source = make_source(acme)
        make_auto_funding(acme, enabled=False, confirmation_threshold=1_000, confirm_topups=True)

        funding = topups.request(
            tenant_id=acme.pk,
            mode=acme.mode,
            topup=topups.TopUp(source_id=source.pk, amount=1_001),
            actor=TEAM,
            now=NOW,
        )

        assert funding.status == "awaiting_confirmation"
        assert Confirmation.objects.get().reason == (
            "A top-up above the amount that needs no approval."
        )
        approve(Confirmation.objects.get(), typed="10.01")
        funding.refresh_from_db()
        assert funding.status == "reserved"


class TestLinks:
    def test_each_mail_brings_its_own_link_and_only_digests_are_kept(self, acme, question):
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

    def test_the_mail_shows_what_is_decided(self, acme, question):
        body = sent("confirmation_request")[BOSS]

        for fact in ("Acme", "$500.00", question.source.last4, question.reason, BOSS):
            assert fact in body

    def test_a_mail_about_a_decided_question_is_dropped(self, acme, question):
        approve(question)

        assert sent("confirmation_request").get(BOSS) is None
        dropped = OutgoingEmail.objects.filter(template="confirmation_request")
        assert set(dropped.values_list("sent_at", "last_error")) == {(None, "no longer needed")}

    def test_a_mail_that_comes_too_late_is_dropped(self, acme, question):
        emails.send_due(now=END)

        assert not ConfirmationLink.objects.exists()

    def test_is_long_random_and_built_from_the_setting(self, question, settings):
        settings.BASE_URL = "https://ballast.example"

        address = links.mint(MATTER, question, approver_email=BOSS, now=NOW)

        assert re.fullmatch(r"https://ballast\.example/confirm/[0-9A-Za-z_-]{43}/", address)


class TestLookUp:
    def test_shows_the_question_to_whoever_holds_the_link(self, question):
        view = page_of(token_of(question))

        assert view == decisions.QuestionView(
            id=question.pk,
            kind="funding",
            tenant_name="Acme",
            amount=50_000,
            holder_name="Acme Inc",
            bank_name=question.source.bank_name,
            last4=question.source.last4,
            reason=question.reason,
            requested_at=NOW,
            expires_at=END,
            approvers=(BOSS, CFO),
            approver_email=BOSS,
            state="open",
            decided_by="",
            decided_at=None,
            decline_reason="",
            subject_id=question.funding_id,
        )

    def test_looking_changes_nothing(self, question):
        token = token_of(question)

        for _ in range(3):
            decisions.look_up(token=token, now=NOW)

        assert untouched(question)

    def test_shows_everybody_who_decided_and_when(self, question):
        other = token_of(question, CFO)
        decline(question, now=NOW + HOUR)

        view = page_of(other, NOW + 2 * HOUR)

        assert (view.state, view.decided_by, view.decided_at, view.decline_reason) == (
            "declined",
            BOSS,
            NOW + HOUR,
            "Not this month",
        )
        assert view.approver_email == CFO

    def test_is_over_the_moment_the_time_is_up(self, question):
        token = token_of(question)

        before = page_of(token, END - timedelta(microseconds=1))
        after = page_of(token, END)

        assert (before.state, after.state) == ("open", "expired")

    @pytest.mark.parametrize(
        "token", ["", "a", "a" * 43, "a" * 44, "a" * 10_000, "é" * 43, "\0" * 43, "\ud800" * 43]
    )
    def test_knows_nothing_of_other_tokens(self, question, token):
        assert decisions.look_up(token=token, now=NOW) is None
        with pytest.raises(UnknownConfirmation):
            decisions.approve(token=token, typed_amount="$500.00", now=NOW)
        with pytest.raises(UnknownConfirmation):
            decisions.decline(token=token, reason="no", now=NOW)

    def test_one_changed_character_is_another_token(self, question):
        token = token_of(question)
        flipped = token[:-1] + ("A" if token[-1] != "A" else "B")

        assert decisions.look_up(token=flipped, now=NOW) is None


class TestApprove:
    def test_lets_the_funding_go_ahead_once(self, acme, question):
        approve(question, now=NOW + HOUR)

        assert outcome(question) == ("approved", BOSS, "reserved", "")
        funding = FundingTransaction.objects.get()
        assert funding.next_attempt_at == funding.reserved_at == NOW + HOUR
        assert funding.awaiting_confirmation_at == NOW
        assert balance_of(acme) == (0, 50_000, 0)
        step = FundingEvent.objects.get(to_status="reserved")
        assert (step.from_status, step.actor_type, step.actor_id, step.reason) == (
            "awaiting_confirmation",
            "approver",
            BOSS,
            "approved",
        )
        event = AuditEvent.objects.get(action="confirmation.approved")
        assert (event.actor_id, event.subject_id) == (BOSS, funding.pk)

    def test_promises_a_date_counted_from_the_approval(self, question):
        promised = question.funding.expected_availability_date

        approve(question, now=NOW + 71 * HOUR)

        assert FundingTransaction.objects.get().expected_availability_date > promised

    def test_tells_the_other_approvers(self, acme, question):
        approve(question)

        assert mails_of(acme, "confirmation_decided") == [CFO]
        context = OutgoingEmail.objects.get(template="confirmation_decided").context
        assert (context["state"], context["decided_by"], context["amount"]) == (
            "approved",
            BOSS,
            50_000,
        )
        assert "was approved" in sent("confirmation_decided")[CFO]

    @pytest.mark.parametrize("typed", ["500", "500.00", "$500.00", " $500.00 ", "$500"])
    def test_takes_the_amount_as_people_type_it(self, question, typed):
        approve(question, typed=typed)

        assert outcome(question)[0] == "approved"

    @pytest.mark.parametrize(
        "typed",
        [
            "",
            "yes",
            "50000",
            "500.0",
            "500.01",
            "5 00",
            "500,00",
            "-500",
            "\N{FULLWIDTH DIGIT FIVE}00",
            "500.00 USD",
        ],
    )
    def test_refuses_any_other_amount(self, question, typed):
        with pytest.raises(AmountMismatch):
            approve(question, typed=typed)

        assert untouched(question)

    def test_of_a_suspended_tenant_is_refused(self, acme, question):
        accounts.suspend(tenant_id=acme.pk, actor=SYSTEM, now=NOW)

        with pytest.raises(TenantSuspended):
            approve(question)

        assert untouched(question)

    def test_from_an_account_the_bank_has_ended_is_refused(self, question):
        sources.note_return(source=question.source, return_code="R02", now=NOW)

        with pytest.raises(FundingSourceUnusable):
            approve(question)

        assert untouched(question)

    def test_while_the_bank_says_that_debits_are_not_authorized_is_refused(self, question):
        sources.note_return(source=question.source, return_code="R07", now=NOW)

        with pytest.raises(FundingSourceNotAuthorized):
            approve(question)

        assert untouched(question)

    def test_after_the_time_is_up_is_refused(self, question):
        with pytest.raises(ConfirmationClosed):
            approve(question, now=END)

        assert untouched(question)

    @pytest.mark.parametrize("second", [approve, decline])
    @pytest.mark.parametrize("first", [approve, decline])
    def test_the_first_decision_is_the_last(self, question, first, second):
        first(question)
        decided = outcome(question)

        with pytest.raises(ConfirmationClosed):
            second(question, email=CFO)

        assert outcome(question) == decided
        assert FundingEvent.objects.count() == 2

    @pytest.mark.parametrize(
        "change",
        [
            {"funding_amount": 60_000},
            {"funding_method": FundingMethod.RTP},
            {"enabled": False},
        ],
    )
    def test_under_other_terms_voids_the_question(self, acme, question, change):
        """The settings changed without withdrawing it: somebody held its row just then."""
        AutoFundingConfig.objects.update(**change)

        with pytest.raises(ConfirmationClosed):
            approve(question)

        assert outcome(question) == ("superseded", "", "failed", "confirmation_superseded")
        assert balance_of(acme) == (0, 0, 0)

    def test_after_the_default_source_moved_voids_the_question(self, acme, question):
        other = make_source(acme, account_number="222222")
        sources.make_default(tenant_id=acme.pk, source_id=other.pk, actor=TEAM, now=NOW)

        with pytest.raises(ConfirmationClosed):
            approve(question)

        assert outcome(question)[0] == "superseded"


class TestDecline:
    def test_ends_the_funding_and_makes_auto_funding_wait(self, acme, question):
        decline(question, reason=" Too \n early ", now=NOW + HOUR)

        assert outcome(question) == ("declined", BOSS, "failed", "confirmation_declined")
        assert question.decline_reason == "Too early"
        funding = FundingTransaction.objects.get()
        assert funding.failure_message == "Declined: Too early"
        assert balance_of(acme) == (0, 0, 0)
        config = AutoFundingConfig.objects.get()
        assert (config.paused_reason, config.paused_until) == (
            "waiting_after_failure",
            NOW + 2 * HOUR,
        )
        event = AuditEvent.objects.get(action="confirmation.declined")
        assert (event.actor_id, event.details["reason"]) == (BOSS, "Too early")
        assert mails_of(acme, "confirmation_decided") == [CFO]

    def test_needs_no_usable_account_and_no_running_tenant(self, acme, question):
        sources.note_return(source=question.source, return_code="R02", now=NOW)
        accounts.suspend(tenant_id=acme.pk, actor=SYSTEM, now=NOW)

        decline(question)

        assert outcome(question)[0] == "declined"

    def test_long_reasons_are_cut(self, question):
        decline(question, reason="x" * 1_000)

        assert question.decision == "open"
        question.refresh_from_db()
        assert question.decline_reason == "x" * 200


class TestCancel:
    def test_withdraws_the_question_and_tells_all_approvers(self, acme, question):
        topups.cancel(tenant_id=acme.pk, funding_id=question.funding_id, actor=TEAM, now=NOW)

        assert outcome(question) == ("superseded", "usr_1", "failed", "canceled")
        assert mails_of(acme, "confirmation_decided") == [BOSS, CFO]
        with pytest.raises(ConfirmationClosed):
            approve(question)

    def test_of_a_funding_nobody_was_asked_about_withdraws_nothing(self, acme, question):
        approve(question)

        topups.cancel(tenant_id=acme.pk, funding_id=question.funding_id, actor=TEAM, now=NOW)

        assert outcome(question) == ("approved", BOSS, "failed", "canceled")


class TestResend:
    def resend(self, tenant, question, now):
        return confirmations.resend(
            tenant_id=tenant.pk, funding_id=question.funding_id, actor=TEAM, now=now
        )

    def test_mails_each_approver_a_new_link_and_the_old_one_still_works(self, acme, question):
        old = token_of(question)

        assert self.resend(acme, question, NOW + HOUR) == [BOSS, CFO]

        assert mails_of(acme, "confirmation_request") == [BOSS, BOSS, CFO, CFO]
        assert page_of(old, NOW + HOUR).state == "open"
        event = AuditEvent.objects.get(action="confirmation.resent")
        assert event.details["to"] == [BOSS, CFO]

    def test_not_within_ten_minutes_of_the_last_mail(self, acme, question):
        with pytest.raises(ConfirmationResentRecently):
            self.resend(acme, question, NOW + timedelta(minutes=9))

        assert self.resend(acme, question, NOW + timedelta(minutes=10)) == [BOSS, CFO]

    def test_asks_those_who_were_asked_whatever_the_settings_say_now(self, acme, question):
        AutoFundingConfig.objects.update(confirmation_emails=["evil@example.com"])

        assert self.resend(acme, question, NOW + HOUR) == [BOSS, CFO]

    def test_asks_whoever_there_is_now_if_nobody_was_asked(self, acme):
        make_source(acme)
        make_auto_funding(acme, confirmation_threshold=0)
        auto_funding.evaluate(tenant_id=acme.pk, now=NOW)
        question = Confirmation.objects.get()
        with pytest.raises(ConfirmationResentRecently):
            self.resend(acme, question, NOW)
        make_member(acme, email="owner@acme.example")

        assert self.resend(acme, question, NOW) == ["owner@acme.example"]

    def test_hides_other_tenants_questions(self, rival, question):
        with pytest.raises(UnknownConfirmation):
            self.resend(rival, question, NOW + HOUR)

    def test_of_a_decided_question_is_refused(self, acme, question):
        approve(question)

        with pytest.raises(ConfirmationClosed):
            self.resend(acme, question, NOW + HOUR)


class TestSweep:
    def test_closes_what_nobody_answered(self, acme, question):
        assert confirmation_sweeps.expire_due(now=END - timedelta(microseconds=1)) == 0
        assert confirmation_sweeps.expire_due(now=END) == 1

        assert outcome(question) == ("expired", "", "failed", "confirmation_expired")
        assert balance_of(acme) == (0, 0, 0)
        assert AutoFundingConfig.objects.get().paused_until == END + HOUR
        assert mails_of(acme, "confirmation_decided") == [BOSS, CFO]
        assert confirmation_sweeps.expire_due(now=END) == 0

    def test_reminds_once_a_day_before_the_end(self, acme, question):
        assert confirmation_sweeps.remind_due(now=NOW + 47 * HOUR) == 0
        assert confirmation_sweeps.remind_due(now=NOW + 48 * HOUR) == 1
        assert confirmation_sweeps.remind_due(now=NOW + 49 * HOUR) == 0

        assert mails_of(acme, "confirmation_reminder") == [BOSS, CFO]
        body = sent("confirmation_reminder")[BOSS]
        assert "/confirm/" in body

    def test_reminds_nobody_of_what_is_decided_or_over(self, acme, question):
        assert confirmation_sweeps.remind_due(now=END) == 0
        decline(question)
        assert confirmation_sweeps.remind_due(now=NOW + 48 * HOUR) == 0

    def test_withdraws_what_the_settings_would_not_ask_any_more(self, acme, question):
        assert confirmation_sweeps.void_stale(now=NOW) == 0

        AutoFundingConfig.objects.update(funding_amount=60_000)

        assert confirmation_sweeps.void_stale(now=NOW) == 1
        assert outcome(question) == ("superseded", "", "failed", "confirmation_superseded")
        assert AutoFundingConfig.objects.get().failures_in_a_row == 0

    def test_leaves_the_question_of_a_top_up_alone(self, acme):
        source = make_source(acme)
        make_auto_funding(acme, enabled=False, confirmation_threshold=0, confirm_topups=True)
        topups.request(
            tenant_id=acme.pk,
            mode=acme.mode,
            topup=topups.TopUp(source_id=source.pk, amount=100),
            actor=TEAM,
            now=NOW,
        )

        assert confirmation_sweeps.void_stale(now=NOW) == 0

    def test_one_that_breaks_does_not_stop_the_others(self, acme, rival, question):
        make_source(rival, account_number="222222")
        make_auto_funding(rival, confirmation_threshold=0)
        auto_funding.evaluate(tenant_id=rival.pk, now=NOW)
        # A funding that already ended cannot fail once more.
        FundingTransaction.objects.filter(tenant=acme).update(status="failed", failed_at=NOW)

        assert confirmation_sweeps.expire_due(now=END) == 1

        assert Confirmation.objects.get(tenant=rival).decision == "expired"
        assert Confirmation.objects.get(tenant=acme).decision == "open"

    def test_does_all_of_it(self, acme, question):
        confirmation_sweeps.sweep(now=END)

        assert outcome(question)[0] == "expired"
