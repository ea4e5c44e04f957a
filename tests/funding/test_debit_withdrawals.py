"""A debit that no bank has yet is taken back when its holder takes back the word for it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import transaction

from balance.models import Balance
from funding.models import DebitAuthorization, FundingTransaction
from funding.services import debit_authorizations, debit_withdrawals, topups
from funding.services.lifecycle import TopUp
from networks import registry
from networks.ach import acknowledging, building, freezing, schedule, sending
from networks.ach.acknowledgments import Verdict
from networks.ach.models import AchEntry
from networks.ach.network import AchNetwork
from networks.ach.rails import current
from tests.builders import NOW, make_source
from tests.funding.agreeing import PERSON, agree, agreement, revoke
from tests.funding.builders import run_due
from tests.networks.ach.builders import RAIL, make_originator, make_rail
from tests.networks.ach.folder import Folder

pytestmark = pytest.mark.django_db(transaction=True)
LATER = NOW + timedelta(minutes=1)


@pytest.fixture
def source(acme):
    """An individual's account, proven before the bank was connected."""
    return make_source(acme, holder_type="individual")


@pytest.fixture
def other(acme):
    """A second one. Tests name it before what needs the bank."""
    return make_source(acme, holder_type="individual", account_number="00098765432")


@pytest.fixture
def bank(source):
    make_rail(dual_release=False, auto_release_below=10**9)
    make_originator()
    undo = registry.connect(AchNetwork(RAIL), modes=["sandbox"])
    yield AchNetwork(RAIL)
    undo()


@pytest.fixture
def funding(source, bank):
    """A debit of the account, which the rail has taken over."""
    return taken_over(source)


def taken_over(source):
    row = topups.request(
        tenant_id=source.tenant_id,
        mode=source.tenant.mode,
        topup=TopUp(source_id=source.pk, amount=25_000, agreement=agreement()),
        actor=PERSON,
        now=NOW,
    )
    run_due(rounds=1)
    row.refresh_from_db()
    assert row.status == "pending"
    return row


@pytest.fixture
def authorization(funding):
    return DebitAuthorization.objects.get(debits__funding=funding)


def frozen():
    """The id of the file of the next cut-off, and when it is made."""
    window = schedule.next_window(current(RAIL).parsed, NOW)
    now = window.frozen_from + timedelta(minutes=1)
    (file_id,) = freezing.freeze_due(RAIL, now=now)
    return file_id, now


def end(authorization, because):
    with transaction.atomic():
        debit_authorizations.end_all(source=authorization.source, because=because, now=LATER)


class TestADebitThatWaits:
    @pytest.mark.parametrize("code", ["R07", "R10"])
    def test_is_taken_back_when_the_bank_says_that_it_is_not_authorized(
        self, authorization, funding, code
    ):
        end(authorization, code)

        assert debit_withdrawals.withdraw_due(now=LATER) == 1
        assert AchEntry.objects.get().status == "withdrawn"

    def test_is_taken_back_when_it_is_revoked(self, acme, authorization, funding):
        revoke(authorization, now=LATER)

        assert debit_withdrawals.withdraw_due(now=LATER) == 1
        run_due(now=LATER)

        funding.refresh_from_db()
        assert (funding.status, funding.failure_code) == ("failed", "withdrawn")
        assert Balance.objects.get(tenant=acme).pending == 0
        assert debit_withdrawals.withdraw_due(now=LATER) == 0

    def test_is_taken_back_when_the_bank_refused_its_file(self, tmp_path, authorization, funding):
        file_id, now = frozen()
        building.build(file_id, now=now)
        sending.send_next(RAIL, Folder(tmp_path), now=now)
        revoke(authorization, now=now)
        assert debit_withdrawals.withdraw_due(now=now) == 0
        acknowledging.acknowledged(
            file_id, verdict=Verdict.REJECTED, rejected_batches={}, rejected_entries={}, now=now
        )

        assert debit_withdrawals.withdraw_due(now=now) == 1
        assert sorted(AchEntry.objects.values_list("status", flat=True)) == [
            "requeued",
            "withdrawn",
        ]

    @pytest.mark.parametrize("because", ["replaced", "account_removed"])
    def test_stays_where_nobody_took_back_the_word(self, authorization, funding, because):
        end(authorization, because)

        assert debit_withdrawals.withdraw_due(now=LATER) == 0
        assert AchEntry.objects.get().status == "waiting"

    def test_stays_while_it_is_authorized(self, funding, authorization):
        other = make_source(funding.tenant, holder_type="individual", account_number="000987654321")
        revoke(agree(other), now=LATER)

        assert debit_withdrawals.withdraw_due(now=LATER) == 0


def test_a_debit_in_a_file_stays(authorization, funding):
    frozen()
    revoke(authorization, now=LATER)

    assert debit_withdrawals.withdraw_due(now=LATER) == 0
    assert AchEntry.objects.get().status == "frozen"
    assert FundingTransaction.objects.get().status == "pending"


def test_what_ended_last_is_asked_about_first(monkeypatch, other, authorization, funding):
    """Otherwise debits that have left would keep it back, sixty days long."""
    monkeypatch.setattr(debit_withdrawals, "_BATCH", 1)
    frozen()
    waiting = taken_over(other)
    revoke(authorization, now=LATER)
    revoke(waiting.authorized.authorization, now=LATER + timedelta(seconds=1))

    assert debit_withdrawals.withdraw_due(now=LATER + timedelta(seconds=2)) == 1
    assert AchEntry.objects.get(instruction_id=funding.pk).status == "frozen"
    assert AchEntry.objects.get(instruction_id=waiting.pk).status == "withdrawn"


def test_a_network_that_is_gone_holds_up_nothing(authorization, funding):
    FundingTransaction.objects.update(network="gone")
    revoke(authorization, now=LATER)

    assert debit_withdrawals.withdraw_due(now=LATER) == 0
