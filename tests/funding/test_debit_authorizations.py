"""A live debit of an individual's account needs an authorization; it is kept, used and ended."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import ClassVar, cast

import pytest
from django.db import DatabaseError, IntegrityError, transaction

from common.audits import Scope
from funding import agreements, invariants
from funding.errors import AuthorizationRequired
from funding.models import (
    AuthorizedDebit,
    AutoFundingConfig,
    DebitAuthorization,
    FundingMethod,
    FundingTransaction,
)
from funding.services import (
    auto_funding,
    auto_funding_config,
    debit_authorizations,
    linking,
    sources,
    topups,
)
from funding.services.auto_funding_config import Changes
from funding.services.lifecycle import TopUp
from funding.transfer import FUNDING
from networks.base import Authorization
from tenants.actors import api_key, user
from tenants.models import AuditEvent, Mode, OutgoingEmail, Role
from tests.builders import (
    NOW,
    make_auto_funding,
    make_funding,
    make_member,
    make_source,
    make_tenant,
)
from tests.funding.agreeing import PERSON, agree, agreement, make_individual, revoke
from tests.funding.builders import top_up
from tests.funding.live_network import LiveNetwork, connected
from tests.funding.test_drafts import LINKED, draft_of
from transfers import submission

LATER = NOW + timedelta(minutes=5)


@pytest.fixture
def live(db: None) -> Iterator[LiveNetwork]:
    with connected() as network:
        yield network


@pytest.fixture
def tenant(live):
    return make_tenant(mode=Mode.LIVE)


@pytest.fixture
def source(tenant):
    return make_individual(tenant)


def send(now=LATER):
    submission.submit_due(FUNDING, now=now)


def ask(tenant, source, given=None, *, amount=25_000, now=NOW):
    return topups.request(
        tenant_id=tenant.pk,
        mode=tenant.mode,
        topup=TopUp(source_id=source.pk, amount=amount, agreement=given),
        actor=api_key("key_1"),
        now=now,
    )


def findings():
    return [one.message for one in invariants.check_authorizations(Scope(full=True))]


class TestWhereItIsAsked:
    def test_a_live_individuals_account_is_not_debited_without(self, tenant, source):
        with pytest.raises(AuthorizationRequired) as refusal:
            top_up(tenant, source=source)

        assert (refusal.value.code, refusal.value.field) == (
            "authorization_required",
            "authorization",
        )
        assert not FundingTransaction.objects.exists()

    def test_a_business_agreed_to_all_debits(self, tenant, live):
        business = make_source(tenant, account_number="7777")
        type(business).objects.filter(pk=business.pk).update(status="active")

        funding = top_up(tenant, source=business)
        send()

        assert live.instructions[funding.pk].authorization is Authorization.CORPORATE

    def test_the_sandbox_never_refuses(self, acme):
        funding = top_up(acme, source=make_individual(acme))

        assert funding.status == "reserved"
        assert not AuthorizedDebit.objects.exists()

    def test_a_request_for_payment_is_no_debit(self, tenant, source):
        type(source).objects.filter(pk=source.pk).update(supported_methods=["ach_debit", "rtp"])

        assert top_up(tenant, source=source, method=FundingMethod.RTP).status == "reserved"

    def test_an_account_whose_holder_nobody_told_is_treated_as_an_individuals(self, tenant, source):
        type(source).objects.filter(pk=source.pk).update(is_holder_known=False)

        with pytest.raises(AuthorizationRequired):
            top_up(tenant, source=source)


class TestATopUpThatBringsOne:
    def test_keeps_it_with_who_said_so(self, tenant, source):
        funding = ask(tenant, source, agreement("single"))

        kept = DebitAuthorization.objects.get()
        assert (kept.kind, kept.scope, kept.amount_max) == ("single", "topups", 25_000)
        assert (kept.text, kept.text_version) == ("I agree to be debited.", "")
        assert (kept.accepted_by_type, kept.accepted_by_id) == ("api_key", "key_1")
        assert (kept.address, kept.accepted_at) == ("203.0.113.7", NOW)
        assert kept.debits.get().funding == funding
        assert AuditEvent.objects.get(action="debit_authorization.recorded").subject_id == kept.pk

    @pytest.mark.parametrize(
        ("kind", "told"),
        [("single", Authorization.WEB_SINGLE), ("recurring", Authorization.WEB_RECURRING)],
    )
    def test_tells_the_bank_which_kind_it_is(self, tenant, source, live, kind, told):
        funding = ask(tenant, source, agreement(kind))
        send()

        assert live.instructions[funding.pk].authorization is told
        assert AuthorizedDebit.objects.get().in_force_at == LATER

    def test_keeps_nothing_of_a_refused_one(self, tenant, source):
        with pytest.raises(AuthorizationRequired) as refusal:
            ask(tenant, source, agreement("single", amount_max=24_999))

        assert refusal.value.detail == "The authorization is for at most $249.99."
        assert not DebitAuthorization.objects.exists()

    def test_is_recorded_in_the_sandbox_too(self, acme):
        ask(acme, make_individual(acme), agreement("single"))

        assert DebitAuthorization.objects.get().debits.count() == 1


class TestOneThatWasRecordedBefore:
    def test_a_single_one_serves_one_debit(self, tenant, source):
        agree(source, "single")
        ask(tenant, source)

        with pytest.raises(AuthorizationRequired):
            ask(tenant, source)

        assert FundingTransaction.objects.count() == 1

    def test_the_database_refuses_a_second_debit(self, tenant, source):
        single = agree(source, "single")
        ask(tenant, source)

        with pytest.raises(IntegrityError), transaction.atomic():
            debit_authorizations.attach(single, funding=make_funding(tenant, source), now=NOW)

    def test_a_recurring_one_serves_all_within_its_maximum(self, tenant, source):
        agree(source, amount_max=30_000)

        assert ask(tenant, source).status == ask(tenant, source).status == "reserved"
        with pytest.raises(AuthorizationRequired) as refusal:
            ask(tenant, source, amount=30_001)
        assert refusal.value.detail.startswith("The account holder authorized at most $300.00")

    def test_one_of_another_account_does_not_count(self, tenant, source):
        agree(make_individual(tenant, account_number="7777"))

        with pytest.raises(AuthorizationRequired):
            ask(tenant, source)

    def test_comes_with_an_account_that_is_added(self, tenant, live):
        draft = draft_of(LINKED)
        added = linking.add(
            tenant_id=tenant.pk, draft=draft, agreement=agreement(), actor=api_key("k"), now=NOW
        )

        assert ask(tenant, added).status == "reserved"


class TestRevoking:
    def test_keeps_back_what_is_not_sent(self, tenant, source, live):
        kept = agree(source)
        funding = ask(tenant, source)

        revoke(kept)
        send()

        funding.refresh_from_db()
        assert (funding.status, funding.failure_code) == ("failed", "authorization_required")
        assert "has ended" in funding.failure_message
        assert not live.instructions
        assert not findings()

    def test_does_not_call_back_what_is_with_the_bank(self, tenant, source, live):
        kept = agree(source)
        funding = ask(tenant, source)
        send(LATER)

        ended = revoke(kept)

        funding.refresh_from_db()
        assert funding.status == "pending"
        assert ended.ended_at == LATER  # never before a debit that it let through
        assert not findings()

    def test_of_one_whose_answer_was_lost_asks_the_bank(self, tenant, source, live):
        """It was in force when it was sent, and the bank has it."""
        kept = agree(source)
        funding = ask(tenant, source)
        live.loses_answers = True
        send()
        revoke(kept, now=LATER + timedelta(seconds=1))
        live.loses_answers = False
        send(LATER + timedelta(minutes=1))

        funding.refresh_from_db()
        assert funding.status == "pending"
        assert not findings()

    def test_again_changes_nothing(self, source):
        ended = revoke(agree(source))

        assert revoke(ended, now=LATER).ended_at == ended.ended_at
        assert AuditEvent.objects.filter(action="debit_authorization.revoked").count() == 1

    def test_ends_for_good(self, source):
        kept = revoke(agree(source))
        rows = DebitAuthorization.objects.filter(pk=kept.pk)

        for change in (
            {"ended_at": None, "ended_because": "", "ended_by_type": "", "ended_by_id": ""},
            {"ended_at": LATER},
        ):
            with pytest.raises(DatabaseError), transaction.atomic():
                rows.update(**change)

    @pytest.mark.parametrize(
        "change", [{"text": "More."}, {"amount_max": 1}, {"accepted_at": LATER}, {"kind": "single"}]
    )
    def test_is_the_only_change(self, source, change):
        kept = agree(source)

        with pytest.raises(DatabaseError), transaction.atomic():
            DebitAuthorization.objects.filter(pk=kept.pk).update(**change)
        with pytest.raises(DatabaseError), transaction.atomic():
            kept.delete()


class TestWhatTheBankSays:
    @pytest.mark.parametrize("code", ["R05", "R07", "R10", "R29"])
    def test_ends_all_of_the_account(self, source, code):
        rows = [agree(source), agree(source, "single")]

        sources.note_return(source=source, return_code=code, now=LATER)

        for row in rows:
            row.refresh_from_db()
            assert (row.ended_because, row.ended_at, row.ended_by_type) == (code, LATER, "system")

    def test_ends_nothing_for_want_of_funds(self, source):
        kept = agree(source)

        sources.note_return(source=source, return_code="R01", now=LATER)

        kept.refresh_from_db()
        assert kept.is_in_force

    def test_a_removed_account_ends_them(self, tenant, source):
        kept = agree(source)

        sources.remove(tenant_id=tenant.pk, source_id=source.pk, actor=PERSON, now=LATER)

        kept.refresh_from_db()
        assert (kept.ended_because, kept.ended_by_id) == ("account_removed", PERSON.id)


class TestAutoFunding:
    RULE: ClassVar = {
        "enabled": True,
        "low_balance_threshold": 10_000,
        "funding_amount": 50_000,
        "funding_method": "ach_debit",
    }

    def agreed(self, source, amount=50_000, monthly_limit=None):
        wording = agreements.rule(
            source,
            tenant_name="Acme",
            amount=amount,
            threshold=10_000,
            monthly_limit=monthly_limit,
        )
        return agreements.Agreement(wording=wording, accepted_at=NOW, address="203.0.113.7")

    def configure(self, tenant, given=None, **changes):
        auto_funding_config.configure(
            tenant_id=tenant.pk,
            changes=cast("Changes", {**self.RULE, **changes}),
            agreement=given,
            actor=PERSON,
            now=NOW,
        )

    def test_is_not_switched_on_without(self, tenant, source):
        with pytest.raises(AuthorizationRequired):
            self.configure(tenant)

        assert not AutoFundingConfig.objects.exists()

    def test_fires_by_the_rule_that_was_agreed_to(self, tenant, source, live):
        self.configure(tenant, self.agreed(source))
        send()

        funding = FundingTransaction.objects.get()
        assert funding.trigger == "auto_funding"
        assert live.instructions[funding.pk].authorization is Authorization.WEB_RECURRING
        assert not findings()

    def test_needs_a_new_one_for_a_larger_amount_only(self, tenant, source):
        self.configure(tenant, self.agreed(source))

        self.configure(tenant, funding_amount=49_999)
        with pytest.raises(AuthorizationRequired) as refusal:
            self.configure(tenant, funding_amount=50_001)
        assert refusal.value.detail.startswith("The account holder authorized at most $500.00")

    def test_needs_a_new_one_for_more_in_a_month(self, tenant, source):
        self.configure(tenant, self.agreed(source, monthly_limit=200_000), monthly_limit=200_000)

        self.configure(tenant, monthly_limit=100_000)
        for looser in (200_001, None):
            with pytest.raises(AuthorizationRequired):
                self.configure(tenant, monthly_limit=looser)

    def test_replaces_the_one_before(self, tenant, source):
        self.configure(tenant, self.agreed(source))
        self.configure(tenant, self.agreed(source, 60_000), funding_amount=60_000)

        old, new = DebitAuthorization.objects.order_by("amount_max")
        assert (old.ended_because, new.is_in_force) == ("replaced", True)

    def test_is_not_covered_by_what_top_ups_were_allowed(self, tenant, source):
        wording = agreements.standing(tenant_name="Acme", most=10**8, is_new=True)
        given = agreements.Agreement(wording=wording, accepted_at=NOW)
        debit_authorizations.record(source=source, agreement=given, actor=PERSON, now=NOW)

        assert ask(tenant, source).status == "reserved"
        with pytest.raises(AuthorizationRequired):
            self.configure(tenant)

    def test_pauses_when_it_is_revoked_and_says_why(self, tenant, source, live):
        make_member(tenant, email="owner@acme.example", role=Role.OWNER)
        self.configure(tenant, self.agreed(source))

        revoke(DebitAuthorization.objects.get(), now=NOW)
        send()

        config = AutoFundingConfig.objects.get()
        assert (config.paused_reason, config.paused_until) == ("authorization_revoked", None)
        assert FundingTransaction.objects.get().failure_code == "authorization_required"
        assert not live.instructions
        mail = OutgoingEmail.objects.get(template="auto_funding_paused")
        assert "revoked the authorization" in mail.context["reason"]
        with pytest.raises(AuthorizationRequired):
            self.configure(tenant)

    def test_goes_on_where_another_one_allows_it(self, tenant, source):
        agree(source)
        self.configure(tenant, self.agreed(source))

        revoke(DebitAuthorization.objects.get(scope="auto_funding"))

        assert AutoFundingConfig.objects.get().paused_reason == ""

    def test_declines_where_nobody_asked_the_holder(self, tenant, source):
        """The default account is another one by now than when the rule was switched on."""
        make_auto_funding(tenant)

        decision = auto_funding.evaluate(tenant_id=tenant.pk, now=NOW)

        assert decision is not None
        assert (decision.outcome, decision.reason) == ("declined", "authorization_required")
        assert not FundingTransaction.objects.exists()


class TestTheCopy:
    def test_goes_to_who_gave_it_and_to_the_owners(self, tenant, source):
        make_member(tenant, email="owner@acme.example", role=Role.OWNER)
        giver = make_member(tenant, email="member@acme.example", role=Role.MEMBER)
        make_member(tenant, email="viewer@acme.example", role=Role.VIEWER)
        kept = agree(source, actor=user(giver.pk))

        copies = OutgoingEmail.objects.filter(template="authorization_copy")
        assert sorted(copies.values_list("to", flat=True)) == [
            "member@acme.example",
            "owner@acme.example",
        ]
        context = copies[0].context
        assert (context["text"], context["authorization_id"]) == (kept.text, kept.pk)
        assert context["given_by"] == "member@acme.example"

    def test_is_not_sent_for_each_top_up_of_a_program(self, tenant, source):
        make_member(tenant, email="owner@acme.example", role=Role.OWNER)

        ask(tenant, source, agreement("single"))

        assert not OutgoingEmail.objects.filter(template="authorization_copy").exists()
