"""What a bank's no does to the account it came from, and who hears of it."""

from __future__ import annotations

import pytest

from balance import selectors as ledger
from common import leases
from funding.models import FundingMethod, FundingTransaction
from funding.services import sources
from funding.transfer import FUNDING
from networks.base import InstructionRefused
from networks.sandbox.bank import SandboxBank
from tenants.models import OutgoingEmail, Role
from tests.builders import NOW, mails_of, make_member, make_source, notices_of
from tests.funding.builders import run_due, top_up
from tests.funding.test_authorizations import REFUSAL, renew
from transfers import submission
from transfers.inbox import messages

pytestmark = pytest.mark.usefixtures("set_size")


@pytest.fixture
def people(acme):
    for name, role in (("owner", Role.OWNER), ("member", Role.MEMBER), ("viewer", Role.VIEWER)):
        make_member(acme, email=f"{name}@acme.example", role=role)


def bring(tenant, account_number, method=FundingMethod.ACH_DEBIT):
    funding = top_up(
        tenant, source=make_source(tenant, account_number=account_number), method=method
    )
    run_due(now=NOW)
    funding.refresh_from_db()
    return funding


class TestNotice:
    @pytest.mark.parametrize(
        ("account_number", "was_completed", "available"),
        [("10001", False, 0), ("20001", True, 0)],
    )
    def test_goes_once_to_those_who_move_money(
        self, acme, people, account_number, was_completed, available
    ):
        funding = bring(acme, account_number)
        run_due(now=NOW)

        assert funding.returned
        assert mails_of(acme, "funding_returned") == ["member@acme.example", "owner@acme.example"]
        assert OutgoingEmail.objects.filter(to="owner@acme.example").get().context == {
            "tenant_name": "Acme",
            "amount": 25_000,
            "bank_name": funding.source.bank_name,
            "last4": account_number[-4:],
            "return_code": "R01",
            "return_reason": "Insufficient funds",
            "advice": "The account did not hold enough money."
            " Try again when the account has enough money.",
            "was_completed": was_completed,
            "available": available,
            "funding_transaction_id": funding.pk,
        }

    def test_is_not_sent_for_what_was_never_returned(self, acme, people):
        bring(acme, "000123456789")
        bring(acme, "41004", FundingMethod.RTP)

        assert mails_of(acme, "funding_returned") == []


class TestRejectedRequest:
    @pytest.mark.parametrize(
        ("account_number", "code"), [("40003", "AC03"), ("40004", "AC04"), ("40006", "AC06")]
    )
    def test_for_a_dead_account_ends_its_use(self, acme, account_number, code):
        source = bring(acme, account_number, FundingMethod.RTP).source

        assert (source.status, source.last_return_code) == ("errored", code)

    def test_for_a_passing_reason_says_nothing_about_the_account(self, acme):
        source = bring(acme, "41004", FundingMethod.RTP).source

        assert (source.status, source.last_return_code) == ("active", "")


class TestAnotherReturnAfterTheEnd:
    """Of two debits on their way both come back, for different reasons."""

    @pytest.mark.parametrize(
        ("first", "second", "status", "kept"),
        [
            ("R07", "R01", "active", "R07"),
            ("R07", "R10", "active", "R10"),
            ("R07", "R02", "errored", "R02"),
            ("R02", "R01", "errored", "R02"),
            ("R02", "R07", "errored", "R02"),
            ("R01", "R09", "active", "R09"),
        ],
    )
    def test_leaves_the_reason_for_which_it_is_not_debited(self, acme, first, second, status, kept):
        source = make_source(acme)

        for code in (first, second):
            sources.note_return(source=source, return_code=code, now=NOW)

        source.refresh_from_db()
        assert (source.status, source.last_return_code) == (status, kept)

    def test_is_remembered_once_the_holder_agrees_again(self, acme):
        source = make_source(acme)
        sources.note_return(source=source, return_code="R07", now=NOW)
        renew(source)

        sources.note_return(source=source, return_code="R01", now=NOW)

        source.refresh_from_db()
        assert (source.last_return_code, source.authorization_ended_at) == ("R01", None)


class TestEndedAccount:
    @pytest.mark.parametrize(
        ("code", "status", "failure", "message"),
        [
            (
                "R02",
                "errored",
                "funding_source_unusable",
                "The bank no longer lets us use this account (R02).",
            ),
            (
                "R07",
                "active",
                "funding_source_not_authorized",
                REFUSAL,
            ),
        ],
    )
    def test_is_not_debited_for_what_was_reserved_before(
        self, acme, code, status, failure, message
    ):
        source = make_source(acme, account_number=f"100{code[1:]}")
        sent = top_up(acme, source=source)
        submission.submit_due(FUNDING, now=NOW)
        later = top_up(acme, source=source, amount=70_000)

        messages.process(FUNDING, now=NOW)
        submission.submit_due(FUNDING, now=NOW)

        sent.refresh_from_db()
        later.refresh_from_db()
        assert (sent.return_code, sent.source.status) == (code, status)
        assert (later.status, later.failure_code, later.returned) == (
            "failed",
            failure,
            False,
        )
        assert later.failure_message == message
        assert later.history.get(to_status="failed").reason == message
        assert [notice["paymentId"] for notice in notices_of(acme, "payment.failed")] == [later.pk]
        assert SandboxBank().find(later.pk) is None
        assert ledger.summary(acme.pk).pending == 0

    def test_is_not_debited_when_the_bank_speaks_after_the_claim(self, acme):
        funding = top_up(acme)
        (claimed,) = leases.claim(
            FundingTransaction.objects.select_related("source"), now=NOW, limit=1
        )
        sources.note_return(source=funding.source, return_code="R07", now=NOW)

        FUNDING.refresh([claimed], NOW)
        with pytest.raises(InstructionRefused) as refusal:
            FUNDING.require_sendable(claimed)

        assert refusal.value.code == "funding_source_not_authorized"

    def test_is_debited_for_them_once_the_holder_agrees_again(self, acme):
        funding = top_up(acme)
        source = funding.source
        sources.note_return(source=source, return_code="R07", now=NOW)
        renew(source)

        submission.submit_due(FUNDING, now=NOW)

        funding.refresh_from_db()
        assert funding.status == "pending"
