"""When an entry may be tried again, or taken back."""

from __future__ import annotations

from datetime import date, timedelta
from functools import partial

import pytest

from networks.ach import following
from networks.ach.accounts import fingerprint
from networks.ach.following import NotAllowed
from networks.ach.inbound import deciding
from networks.ach.inbound.deciding import NotPossible
from networks.ach.models import Correction, InRecord
from tests.networks.ach.inbound.builders import (
    ACCOUNT,
    NOW,
    SETTLED,
    answer_batch,
    answer_file,
    change_batch,
    changed,
    make_batch,
    make_entry,
    make_rail,
    returned,
    take,
)

pytestmark = pytest.mark.django_db
SOON = date(2026, 11, 27)


@pytest.fixture
def batch(db):
    return make_batch(make_rail())


@pytest.fixture
def bounced(batch):
    return make_entry(batch, 1, status="returned", code="R01", ended_at=NOW)


def retry(original, *, account=ACCOUNT, settles=SOON):
    following.require_retry(original, account_fingerprints=[fingerprint(account)], settles=settles)


def refusal(act, *args, **kwargs):
    with pytest.raises(NotAllowed) as refused:
        act(*args, **kwargs)
    return refused.value.code


def follow(batch, original, number, **columns):
    return make_entry(
        batch,
        number,
        instruction_id=f"ftx_again_{number}",
        original=original,
        purpose="retry",
        description="RETRY PYMT",
        settled=None,
        **columns,
    )


class TestARetry:
    @pytest.mark.parametrize("code", ["R01", "R09"])
    def test_follows_a_debit_that_found_no_money(self, batch, code):
        retry(make_entry(batch, status="returned", code=code))

    def test_follows_no_return_that_our_bank_dishonors(self, batch):
        entry = make_entry(batch, settled=date(2026, 11, 20), status="final")
        take(answer_file(answer_batch(*returned(entry, "R01"))))
        entry.refresh_from_db()
        record = InRecord.objects.get()
        dishonor = partial(
            deciding.dishonor,
            record_id=record.pk,
            code="R68",
            staff="anna",
            why="late",
            now=NOW,
        )

        reply = dishonor()
        assert refusal(retry, entry) == "retry_of_dishonored"

        deciding.withdraw_reply(reply_id=reply.pk, now=NOW)
        retry(entry)

        follow(batch, entry, 9)
        with pytest.raises(NotPossible, match="tried again"):
            dishonor()

    @pytest.mark.parametrize("code", ["R02", "R08", "R10", "R29", "R97", ""])
    def test_follows_no_other_reason(self, batch, code):
        assert refusal(retry, make_entry(batch, status="returned", code=code)) == "retry_reason"

    def test_follows_nothing_that_did_not_come_back(self, batch):
        assert refusal(retry, make_entry(batch)) == "retry_on_its_way"
        rejected = make_entry(batch, 2, status="rejected", code="R13", accepted_at=None)
        assert refusal(retry, rejected) == "retry_reason"

    def test_comes_twice_at_most(self, batch, bounced):
        for number in (2, 3):
            retry(bounced)
            follow(batch, bounced, number, status="returned", code="R01")

        assert refusal(retry, bounced) == "retried_too_often"

    def test_that_never_moved_money_does_not_count(self, batch, bounced):
        for number, status in enumerate(["rejected", "withdrawn", "requeued"], start=2):
            in_file = status != "withdrawn"
            follow(batch, bounced, number, status=status, accepted_at=None, in_file=in_file)

        retry(bounced)

    @pytest.mark.parametrize("status", ["waiting", "frozen", "sent", "accepted", "final"])
    def test_waits_for_the_one_before(self, batch, bounced, status):
        in_file = status != "waiting"
        row = follow(batch, bounced, 2, status=status, in_file=in_file)

        assert row.status == status
        assert refusal(retry, bounced) == "retry_on_its_way"

    def test_does_not_follow_one_that_came_back_for_another_reason(self, batch, bounced):
        follow(batch, bounced, 2, status="returned", code="R10")

        assert refusal(retry, bounced) == "retry_reason"

    def test_follows_the_first_entry_and_no_retry(self, batch, bounced):
        second = follow(batch, bounced, 2, status="returned", code="R01")

        assert refusal(retry, second) == "retry_of_a_retry"

    def test_comes_within_180_days_of_the_first_settlement(self, bounced):
        retry(bounced, settles=SETTLED + timedelta(days=180))

        late = SETTLED + timedelta(days=181)
        assert refusal(retry, bounced, settles=late) == "retried_too_late"

    def test_draws_from_the_same_account_or_what_its_bank_corrected(self, batch):
        entry = make_entry(batch)
        take(answer_file(change_batch(*changed(entry, "C01", "74456709001"))))
        take(answer_file(answer_batch(*returned(entry))))
        entry.refresh_from_db()
        assert Correction.objects.get().status == "applied"

        retry(entry, account="74456709001")

        other = make_entry(batch, 2, account="31415926535", status="returned", code="R01")
        assert refusal(retry, other, account="74456709001") == "retry_differs"

    def test_draws_from_what_the_bank_corrected_with_another_entry(self, batch):
        bounced = make_entry(batch, status="returned", code="R01")
        take(answer_file(change_batch(*changed(make_entry(batch, 2), "C01", "74456709001"))))

        retry(bounced, account="74456709001")

        other = make_entry(batch, 3, status="returned", code="R01", tenant_id="ten_2")
        assert refusal(retry, other, account="74456709001") == "retry_differs"

    def test_is_of_a_debit(self, batch):
        credit = make_entry(batch, is_debit=False, transaction_code=22, status="returned")

        assert refusal(retry, credit) == "retry_not_a_debit"


def reverse(original, *, hours=1, settles=SOON):
    following.require_reversal(
        original, discovered_at=NOW - timedelta(hours=hours), settles=settles, now=NOW
    )


class TestAReversal:
    @pytest.mark.parametrize("status", ["accepted", "final"])
    def test_takes_back_what_the_bank_has(self, batch, status):
        reverse(make_entry(batch, status=status))

    def test_waits_until_the_bank_has_accepted_it(self, batch):
        sent = make_entry(batch, status="sent", accepted_at=None)
        assert refusal(reverse, sent) == "reversal_too_early"

    def test_does_not_take_back_what_came_back_or_never_left(self, batch, bounced):
        assert refusal(reverse, bounced) == "reversal_not_possible"
        frozen = make_entry(batch, 2, status="frozen", accepted_at=None, settled=None)
        assert refusal(reverse, frozen) == "reversal_not_possible"

    def test_comes_within_five_banking_days_of_settlement(self, batch):
        entry = make_entry(batch)
        reverse(entry, settles=date(2026, 12, 2))

        assert refusal(reverse, entry, settles=date(2026, 12, 3)) == "reversal_too_late"

    @pytest.mark.parametrize("hours", [25, -1])
    def test_comes_within_a_day_of_the_discovery(self, batch, hours):
        assert refusal(reverse, make_entry(batch), hours=hours) == "reversal_too_late"

    def test_comes_once(self, batch):
        entry = make_entry(batch)
        make_entry(
            batch,
            2,
            instruction_id="rvs_1",
            original=entry,
            purpose="reversal",
            is_debit=False,
            transaction_code=22,
        )

        assert refusal(reverse, entry) == "reversed_before"
        assert not InRecord.objects.exists()
