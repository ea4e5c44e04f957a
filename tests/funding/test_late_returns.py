"""A debit may come back for sixty days. By then its account may be gone, and here again."""

from __future__ import annotations

from datetime import timedelta

import pytest

from funding.errors import FundingSourceNotAuthorized, FundingSourceUnusable
from funding.models import AutoFundingConfig
from funding.services import sources
from funding.transfer import FUNDING
from networks.sandbox import control
from tenants.actors import api_key, user
from tests.builders import NOW, make_auto_funding, make_source
from tests.funding.builders import run_due, top_up
from transfers.inbox import messages

KEY, DANA = api_key("key_1"), user("usr_dana")
REMOVED, ADDED, RETURNED = (NOW + timedelta(days=days) for days in (1, 2, 30))

pytestmark = pytest.mark.usefixtures("set_size")


@pytest.fixture
def debit(acme):
    """One that was completed, whose account was removed after that."""
    funding = top_up(acme)
    run_due()
    removed(funding.source, at=REMOVED)
    return funding


def removed(source, *, at):
    sources.remove(tenant_id=source.tenant_id, source_id=source.pk, actor=DANA, now=at)


def sent_back(debit, code):
    control.return_entry(debit.pk, code=code, now=RETURNED)
    messages.process(FUNDING, now=RETURNED)
    debit.refresh_from_db()
    assert debit.return_code == code


def words_about(source):
    source.refresh_from_db()
    return source.status, source.last_return_code, source.authorization_ended_at


@pytest.mark.parametrize("actor", [KEY, DANA])
class TestAnAccountThatWasAddedAgain:
    @pytest.mark.parametrize(
        ("code", "words", "refusal"),
        [
            ("R10", ("active", "R10", RETURNED), FundingSourceNotAuthorized),
            ("R02", ("errored", "R02", None), FundingSourceUnusable),
        ],
    )
    def test_is_debited_no_more(self, acme, debit, actor, code, words, refusal):
        again = make_source(acme, actor=actor, now=ADDED)

        sent_back(debit, code)

        assert words_about(again) == words
        assert words_about(debit.source)[:2] == ("removed", code)
        with pytest.raises(refusal):
            top_up(acme, source=again, now=RETURNED)

    def test_is_what_auto_funding_stops_for(self, acme, debit, actor):
        make_source(acme, actor=actor, now=ADDED)
        config = make_auto_funding(acme)

        sent_back(debit, "R10")

        config.refresh_from_db()
        assert (config.paused_reason, config.paused_until) == ("bank_returned_R10", None)

    def test_waits_a_while_after_a_return_for_a_passing_reason(self, acme, debit, actor):
        again = make_source(acme, actor=actor, now=ADDED)
        make_auto_funding(acme, source=again)

        sent_back(debit, "R01")

        assert words_about(again) == ("active", "", None)
        assert AutoFundingConfig.objects.get().paused_reason == "waiting_after_failure"
        assert top_up(acme, source=again, now=RETURNED).status == "reserved"


def test_an_account_removed_twice_is_known_by_what_the_bank_said_last(acme, debit):
    removed(make_source(acme, actor=KEY, now=ADDED), at=ADDED)

    sent_back(debit, "R10")

    assert make_source(acme, actor=KEY, now=RETURNED).authorization_ended_at == RETURNED


def test_an_account_of_somebody_else_is_not_meant(acme, rival, debit):
    theirs, other = make_source(rival), make_source(acme, account_number="000987654321")

    sent_back(debit, "R10")

    assert words_about(theirs) == words_about(other) == ("active", "", None)
