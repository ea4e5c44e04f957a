"""A bank corrects an account that we draw from: what the tenant sees of it, and what follows."""

from __future__ import annotations

from datetime import timedelta

import pytest

from balance import invariants
from funding.deposit_transfer import DEPOSIT_ENTRIES
from funding.errors import DuplicateFundingSource
from funding.models import AccountBackOff, DepositEntry
from funding.services import authorizations, deposits, sources
from funding.states import SourceStatus
from funding.transfer import FUNDING
from networks.base import Correction, EventKind
from tenants import actors
from tenants.actors import SYSTEM
from tenants.models import AuditEvent, OutgoingEmail
from tests.builders import NOW, make_linked_source, make_member, make_source
from tests.funding.builders import run_due, top_up
from tests.networks.scripted import ScriptedNetwork, message
from transfers import submission
from transfers.inbox import messages
from transfers.inbox.models import InboundEvent
from webhooks.models import WebhookEvent

CORRECTED = "70001"


@pytest.fixture(autouse=True)
def books_balance(db):
    """After every story the books agree with it."""
    yield
    assert invariants.check(now=NOW, full=True).findings == []


@pytest.fixture
def source(acme):
    """One whose bank answers the first debit with another number."""
    return make_source(acme, account_number="60001")


def draw(source):
    row = top_up(source.tenant, source=source)
    run_due()
    row.refresh_from_db()
    source.refresh_from_db()
    return row


def corrected(source):
    draw(source)
    assert source.version == 2
    return source


def note_of_the_correction():
    event = InboundEvent.objects.get(kind=EventKind.CORRECTED)
    return event.outcome, event.note


def say_again(source, row, *, code="C01", **values):
    """Have the bank correct it by a message of the test's own."""

    class Bank(ScriptedNetwork):
        def correction(self, event_id):
            return Correction(code=code, **values)

    event = message(row, EventKind.CORRECTED, id="nev-2", code=code)
    return Bank(event)


class TestTheTenantIsTold:
    def test_in_the_audit_log_by_its_network(self, source):
        corrected(source)

        line = AuditEvent.objects.get(action="funding_source.corrected")
        assert (line.actor_type, line.subject_id) == ("network", source.pk)
        assert line.details["code"] == "C01"
        assert line.details["lastFourBefore"] == "0001"

    def test_by_mail(self, source, acme):
        make_member(acme, email="dana@acme.example")
        corrected(source)

        (mail,) = OutgoingEmail.objects.filter(template="account_corrected")
        assert mail.context["what"] == "account number"
        assert mail.context["account_id"] == source.pk

    def test_by_an_event_whose_body_is_what_it_was(self, source):
        corrected(source)

        event = WebhookEvent.objects.filter(type="funding_source.updated").last()
        assert event is not None
        assert b'"fundingSourceId":"%b"' % source.pk.encode() in bytes(event.body)
        assert b'"status":"active"' in bytes(event.body)


def test_of_a_removed_account_it_is_only_noted(acme, connect):
    source = make_source(acme)
    row = draw(source)
    sources.remove(tenant_id=acme.pk, source_id=source.pk, actor=SYSTEM, now=NOW)
    connect(say_again(source, row, account_number=CORRECTED))
    messages.process(FUNDING, now=NOW)

    source.refresh_from_db()
    assert source.version == 1
    assert note_of_the_correction() == ("applied", "the account was removed")


class TestTheSameAccountAgain:
    def test_as_it_was_before_is_a_duplicate(self, source, acme):
        corrected(source)

        with pytest.raises(DuplicateFundingSource):
            make_source(acme, account_number="60001")

    def test_as_it_is_now_is_a_duplicate(self, source, acme):
        corrected(source)

        with pytest.raises(DuplicateFundingSource):
            make_source(acme, account_number=CORRECTED)

    def test_the_end_of_its_authorization_is_found_by_the_number_before(self, source, acme):
        corrected(source)
        sources.note_return(source=source, return_code="R10", now=NOW)
        sources.remove(tenant_id=acme.pk, source_id=source.pk, actor=SYSTEM, now=NOW)

        again = make_source(acme, account_number="60001", actor=actors.api_key("key_1"))

        assert again.authorization_ended_at == NOW

    def test_what_the_bank_says_later_counts_for_it(self, source, acme):
        corrected(source)
        sources.remove(tenant_id=acme.pk, source_id=source.pk, actor=SYSTEM, now=NOW)
        again = make_source(acme, account_number="60001")

        sources.note_return(source=source, return_code="R02", now=NOW)

        again.refresh_from_db()
        assert again.status == SourceStatus.ERRORED


class TestCollision:
    def test_with_another_account_goes_to_a_person(self, source, acme):
        other = make_source(acme, account_number=CORRECTED)
        draw(source)

        assert source.version == 1
        assert note_of_the_correction() == (
            "review",
            f"the corrected account is the tenant's {other.pk} as well",
        )

    def test_with_what_another_was_before_goes_to_a_person(self, acme, connect):
        first = corrected(make_source(acme, account_number="60001"))
        second = make_source(acme)
        row = draw(second)
        bank = say_again(second, row, account_number="60001")
        connect(bank)
        messages.process(FUNDING, now=NOW)

        event = InboundEvent.objects.get(event_id="nev-2")
        assert (event.outcome, first.pk in event.note) == ("review", True)

    def test_with_a_removed_one_does_not_matter(self, source, acme):
        other = make_source(acme, account_number=CORRECTED)
        sources.remove(tenant_id=acme.pk, source_id=other.pk, actor=SYSTEM, now=NOW)

        corrected(source)

    def test_with_another_tenants_does_not_matter(self, source, rival):
        make_source(rival, account_number=CORRECTED)

        corrected(source)


def test_of_a_linked_account_is_applied_too(acme):
    source = corrected(make_linked_source(acme, word="60001"))

    assert source.in_clear().account_number == CORRECTED


def test_it_is_left_alone_for_as_long_as_before(acme, connect):
    source = make_source(acme, account_number="30001")
    row = draw(source)
    AccountBackOff.objects.create(
        tenant=acme, fingerprint=source.fingerprint, failures_in_a_row=2, until=NOW
    )
    connect(say_again(source, row, account_number=CORRECTED))
    messages.process(FUNDING, now=NOW)

    source.refresh_from_db()
    assert source.version == 2
    assert AccountBackOff.objects.get().fingerprint == source.fingerprint


class TestDeposits:
    def test_correct_an_account_that_is_not_proven_yet(self, acme, connect):
        source = make_source(acme, account_number="50001")
        deposits.process_due(now=NOW)
        row = DepositEntry.objects.get(part=1)
        connect(say_again(source, row, account_number="123400005678"))
        messages.process(DEPOSIT_ENTRIES, now=NOW)

        source.refresh_from_db()
        assert (source.version, source.status) == (2, SourceStatus.PENDING_VERIFICATION)
        assert source.in_clear().account_number == "123400005678"


def test_a_renewed_authorization_is_about_the_account_not_its_number(acme, source):
    corrected(source)
    sources.note_return(source=source, return_code="R10", now=NOW)
    person = actors.user(make_member(acme, email="dana@acme.example").pk)
    seen = authorizations.version_of(source)

    renewed = authorizations.renew(
        tenant_id=acme.pk,
        source_id=source.pk,
        seen=seen,
        actor=person,
        now=NOW + timedelta(hours=1),
    )

    assert renewed.authorization_ended_at is None


def test_the_sweep_that_beat_starts_applies_corrections(source):
    """`messages.run`, which the task calls, and not `messages.process`, which most tests call."""
    top_up(source.tenant, source=source)
    for _ in range(4):
        submission.submit_due(FUNDING, now=NOW)
        messages.run(FUNDING, now=NOW, wake=lambda: None)

    source.refresh_from_db()
    assert (source.version, note_of_the_correction()[0]) == (2, "applied")
