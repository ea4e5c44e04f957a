"""Top-ups through a bank that takes ACH files: what its files do to a tenant's money."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models import F

from balance import invariants
from balance.models import Balance
from desk import doers
from desk.entries import reversals
from funding.models import FundingTransaction
from funding.services import retries
from funding.states import FundingStatus
from networks import registry
from networks.ach import acknowledging, building, freezing, reversing, schedule, sending
from networks.ach.acknowledgments import Verdict
from networks.ach.models import AchEntry, OutFile
from networks.ach.models.reversals import ReversalReason
from networks.ach.network import AchNetwork
from networks.ach.rails import current
from networks.ach.schedule import final_at
from networks.calendar import EASTERN, opening_of_business, return_due_date
from tenants import actors
from tenants.actors import staff, user
from tests.builders import NOW, make_source, make_staff
from tests.funding.builders import run_due, top_up
from tests.networks.ach.builders import RAIL, make_originator, make_rail
from tests.networks.ach.folder import Folder
from tests.networks.ach.inbound.builders import (
    answer_batch,
    answer_file,
    change_batch,
    changed,
    returned,
    take,
)
from transfers.inbox import settlements
from transfers.inbox.models import BankOutcome
from transfers.inbox.settlements import SettlementRefused

pytestmark = pytest.mark.django_db(transaction=True)
NEW = "74456709001"


@pytest.fixture
def funding(acme):
    """A top-up that the bank has, from an account that was verified elsewhere."""
    source = make_source(acme)
    make_rail(dual_release=False, auto_release_below=10**9)
    make_originator()
    undo = registry.connect(AchNetwork(RAIL), modes=["sandbox"])
    row = top_up(acme, source=source)
    run_due(rounds=1)
    yield row
    undo()


@pytest.fixture
def connected_late(funding):
    """A rail that is asked just before a worker claims the row."""

    class Slow(AchNetwork):
        def custody(self, instruction_ids):
            rows = FundingTransaction.objects.filter(pk__in=instruction_ids)
            rows.update(lease_version=F("lease_version") + 1)
            return {}

    undo = registry.connect(Slow(RAIL), modes=["sandbox"])
    yield
    undo()


def seen(row):
    row = FundingTransaction.objects.get(pk=row.pk)
    return row.status, row.returned, row.return_code


def available(tenant):
    return Balance.objects.get(tenant=tenant).available


def sent_and_accepted(tmp_path, *, after=NOW):
    """The first entry, once the bank has its file and took it; and when."""
    window = schedule.next_window(current(RAIL).parsed, after)
    now = window.frozen_from + timedelta(minutes=1)
    (file_id,) = freezing.freeze_due(RAIL, now=now)
    assert building.build(file_id, now=now)
    assert OutFile.objects.get(pk=file_id).status == "released"
    sending.send_next(RAIL, Folder(tmp_path), now=now)
    acknowledging.acknowledged(
        file_id, verdict=Verdict.ACCEPTED, rejected_batches={}, rejected_entries={}, now=now
    )
    run_due(now=now)
    return AchEntry.objects.earliest("pk"), now


def came(entry, *pairs, now, batch=answer_batch):
    """A file from the bank, which settles today and is applied."""
    day = now.astimezone(EASTERN).date()
    julian = f"{day.timetuple().tm_yday:03d}"
    lines = [line for pair in pairs for line in pair]
    file = take(
        answer_file(batch(*lines, settlement=julian), day=f"{day:%y%m%d}"), rail=RAIL, now=now
    )
    assert file.status == "applied"
    run_due(now=now)


def settle_as_rejected(row):
    """By two people; refusals come out."""
    ada, ben = (make_staff(f"{name}@ballast.example") for name in ("ada", "ben"))
    proposal = settlements.propose(
        subject_id=row.pk,
        kind=BankOutcome.REJECTED,
        amount=row.amount,
        bank_reference="by telephone",
        code="R03",
        reason="The bank says so",
        actor=staff(ada.pk),
        now=NOW,
    )
    return settlements.approve(
        proposal_id=proposal.pk, note="Heard it, too", actor=staff(ben.pk), now=NOW
    )


class TestSettlingByHand:
    """What we may still send is not given back to its tenant meanwhile."""

    @pytest.mark.parametrize(
        ("steps", "words"),
        [(0, "withdraw it from its network"), (1, "Entries"), (2, "Entries"), (3, "Entries")],
    )
    def test_waits_until_the_entry_cannot_leave(self, acme, funding, tmp_path, steps, words):
        now = schedule.next_window(current(RAIL).parsed, NOW).frozen_from + timedelta(minutes=1)
        if steps:
            (file_id,) = freezing.freeze_due(RAIL, now=now)
        if steps > 1:
            building.build(file_id, now=now)
        if steps > 2:
            sending.send_next(RAIL, Folder(tmp_path), now=now)
        expected = ("waiting", "frozen", "frozen", "sent")[steps]
        assert AchEntry.objects.get().status == expected

        with pytest.raises(SettlementRefused, match=words):
            settle_as_rejected(funding)

        assert seen(funding) == (FundingStatus.PENDING, False, "")

    def test_is_free_of_what_was_withdrawn(self, acme, funding):
        AchNetwork(RAIL).withdraw(funding.pk, now=NOW)

        settle_as_rejected(funding)

        assert seen(funding)[0] == FundingStatus.FAILED
        run_due()
        assert invariants.check(now=NOW, full=True).findings == []

    def test_asks_again_what_moved_meanwhile(self, acme, funding, connected_late):
        with pytest.raises(SettlementRefused, match="being sent right now"):
            settle_as_rejected(funding)

        assert seen(funding) == (FundingStatus.PENDING, False, "")


class TestATopUp:
    def test_comes_back_before_its_money_counts(self, acme, funding, tmp_path):
        entry, _ = sent_and_accepted(tmp_path)
        assert seen(funding) == (FundingStatus.IN_TRANSIT, False, "")
        now = opening_of_business(return_due_date(entry.settlement_date)) - timedelta(hours=12)

        came(entry, returned(entry, "R01"), now=now)

        assert seen(funding) == (FundingStatus.FAILED, True, "R01")
        assert available(acme) == 0
        assert invariants.check(now=now, full=True).findings == []

    def test_comes_back_after_its_money_counted(self, acme, funding, tmp_path):
        entry, _ = sent_and_accepted(tmp_path)
        final = final_at(entry.settlement_date, is_debit=True, same_day=False)
        run_due(now=final)
        assert seen(funding) == (FundingStatus.COMPLETED, False, "")
        assert available(acme) == 25_000

        came(entry, returned(entry, "R10"), now=final + timedelta(days=20))

        assert seen(funding) == (FundingStatus.FAILED, True, "R10")
        assert available(acme) == 0
        assert invariants.check(now=final, full=True).findings == []

    def test_tells_that_the_account_has_another_number(self, funding, tmp_path):
        entry, now = sent_and_accepted(tmp_path)

        came(
            entry,
            changed(entry, "C01", NEW),
            now=now + timedelta(days=4),
            batch=change_batch,
        )

        funding.source.refresh_from_db()
        assert (funding.source.version, funding.source.last4) == (2, NEW[-4:])
        assert seen(funding) == (FundingStatus.IN_TRANSIT, False, "")

    def test_is_taken_back_by_two_people(self, acme, funding, tmp_path):
        entry, now = sent_and_accepted(tmp_path)
        anna, bo = (
            doers.person(actors.staff(make_staff(f"{name}@ballast.example").pk))
            for name in ("anna", "bo")
        )
        reversal = reversals.propose(
            entry=entry,
            why=ReversalReason.DUPLICATE,
            hours=0,
            note="sent twice",
            doer=anna,
            now=now,
        )
        reversals.approve(reversal=reversal, doer=bo, now=now)
        _, now = sent_and_accepted(tmp_path, after=now)

        reversing.run(now=now)
        run_due(now=now)

        assert seen(funding) == (FundingStatus.FAILED, True, "takeback")
        assert available(acme) == 0
        assert invariants.check(now=now, full=True).findings == []

    def test_is_tried_again_as_the_rules_say(self, acme, funding, tmp_path):
        entry, _ = sent_and_accepted(tmp_path)
        day = opening_of_business(return_due_date(entry.settlement_date))
        came(entry, returned(entry, "R09"), now=day - timedelta(hours=12))

        again = retries.start(
            tenant_id=acme.pk,
            mode=acme.mode,
            funding_id=funding.pk,
            actor=user("usr_dana"),
            now=day,
        )
        run_due(now=day)
        sent_and_accepted(tmp_path, after=day)

        once_more = AchEntry.objects.get(instruction_id=again.pk)
        assert (once_more.purpose, once_more.description) == ("retry", "RETRY PYMT")
        assert (once_more.original_id, once_more.individual_id) == (entry.pk, entry.individual_id)
        assert (once_more.amount, once_more.company_id) == (entry.amount, entry.company_id)
        assert once_more.settlement_date is not None
        final = final_at(once_more.settlement_date, is_debit=True, same_day=False)
        run_due(now=final)
        assert seen(again) == (FundingStatus.COMPLETED, False, "")
        assert seen(funding) == (FundingStatus.FAILED, True, "R09")
        assert available(acme) == 25_000
        assert invariants.check(now=final, full=True).findings == []
