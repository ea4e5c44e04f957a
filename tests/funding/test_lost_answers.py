"""A debit whose first try got no answer, and an account that may not be debited any more by then.

The bank is asked whether it has the instruction; it never hears the instruction again.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from balance import selectors as ledger
from common import leases
from funding.models import FundingTransaction
from funding.services import sources
from funding.transfer import FUNDING
from networks.base import Accepted, NetworkUnavailable
from networks.sandbox.bank import SandboxBank
from networks.sandbox.models import SandboxInstruction
from tests.builders import NOW, make_source, notices_of
from tests.funding.builders import top_up
from tests.funding.test_authorizations import REFUSAL, renew
from tests.networks.asking import submit
from transfers import submission
from transfers.inbox import messages
from transfers.submission import LEASE, RETRY_AFTER

# The bank that the account leads to is down for two calls, which it counts.
SILENT = "30002"
ENDS = pytest.mark.parametrize(
    ("code", "failure", "words"),
    [
        ("R07", "funding_source_not_authorized", REFUSAL),
        ("R10", "funding_source_not_authorized", REFUSAL.replace("R07", "R10")),
        (
            "R02",
            "funding_source_unusable",
            "The bank no longer lets us use this account (R02).",
        ),
    ],
)

pytestmark = pytest.mark.usefixtures("set_size")


@pytest.fixture
def unheard(acme):
    """A funding that the bank did not answer, nor take over."""
    funding = top_up(acme, source=make_source(acme, account_number=SILENT))
    assert tried(funding).status == "reserved"
    return funding


@pytest.fixture
def unanswered(acme):
    """A funding that the bank has, while our worker died before it could write that down."""
    funding = top_up(acme)
    leases.claim(FundingTransaction.objects.all(), now=NOW, limit=1, lease=LEASE)
    submit(SandboxBank(), FUNDING.instruction(funding), now=NOW)
    return funding


class DeafBank(SandboxBank):
    """The sandbox bank, but nobody answers there."""

    def find(self, instruction_id):
        raise NetworkUnavailable("no answer")


def ended(funding, code):
    sources.note_return(source=funding.source, return_code=code, now=NOW)


def tried(funding, now=NOW):
    """Submit what is due at `now`."""
    submission.submit_due(FUNDING, now=now)
    funding.refresh_from_db()
    return funding


def tried_until_the_longest_pause(funding):
    """All tries whose pause is shorter than the longest; returns when the next one is due."""
    while funding.attempts < len(RETRY_AFTER):
        tried(funding, funding.next_attempt_at)
        assert funding.status == "reserved"
    return funding.next_attempt_at


def calls(funding):
    """How often the bank was handed the instruction."""
    return SandboxInstruction.objects.get(external_id=funding.pk).submissions


class TestWhatTheBankHas:
    @ENDS
    def test_is_taken_up_without_another_call(self, unanswered, code, failure, words):
        ended(unanswered, code)

        tried(unanswered, NOW + LEASE)

        receipt = Accepted(
            reference=unanswered.network_reference, trace_number=unanswered.trace_number
        )
        assert (unanswered.status, unanswered.attempts) == ("pending", 2)
        assert SandboxBank().find(unanswered.pk) == receipt
        assert calls(unanswered) == 1

    def test_ends_as_the_bank_says(self, acme, unanswered):
        ended(unanswered, "R07")
        tried(unanswered, NOW + LEASE)

        messages.process(FUNDING, now=NOW + timedelta(days=7))

        unanswered.refresh_from_db()
        summary = ledger.summary(acme.pk)
        assert (unanswered.status, summary.available, summary.pending) == ("completed", 25_000, 0)


class TestWhatTheBankNeverGot:
    @ENDS
    def test_fails_after_the_longest_pause(self, acme, unheard, code, failure, words):
        ended(unheard, code)
        due = tried_until_the_longest_pause(unheard)

        tried(unheard, due - timedelta(seconds=1))
        assert unheard.status == "reserved"
        assert ledger.summary(acme.pk).pending == 25_000
        tried(unheard, due)

        assert (unheard.status, unheard.failure_code, unheard.returned) == (
            "failed",
            failure,
            False,
        )
        assert unheard.failure_message == words
        assert unheard.next_attempt_at is None
        assert calls(unheard) == 1
        assert ledger.summary(acme.pk).pending == 0
        assert [notice["paymentId"] for notice in notices_of(acme, "payment.failed")] == [
            unheard.pk
        ]

    def test_is_sent_again_once_the_holder_agrees(self, unheard):
        ended(unheard, "R07")
        tried(unheard, unheard.next_attempt_at)
        renew(unheard.source)

        tried(unheard, unheard.next_attempt_at)
        tried(unheard, unheard.next_attempt_at)

        assert (unheard.status, calls(unheard)) == ("pending", 3)

    def test_is_taken_up_where_it_arrives_late(self, unheard):
        """The call that we gave up got through after all, between two questions."""
        ended(unheard, "R07")
        tried(unheard, unheard.next_attempt_at)
        SandboxInstruction.objects.update(accepted_at=unheard.next_attempt_at)

        tried(unheard, unheard.next_attempt_at)

        assert (unheard.status, unheard.attempts, calls(unheard)) == ("pending", 3, 1)

    def test_stays_open_while_the_bank_does_not_say(self, unheard, connect):
        ended(unheard, "R02")
        connect(DeafBank())
        due = tried_until_the_longest_pause(unheard)

        tried(unheard, due)

        assert (unheard.status, unheard.attempts) == ("reserved", len(RETRY_AFTER) + 1)
        assert unheard.next_attempt_at == due + RETRY_AFTER[-1]
