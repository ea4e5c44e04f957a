"""A suspended tenant's transfers do not leave with the next file of a bank."""

from __future__ import annotations

from datetime import timedelta

import pytest

from balance import invariants
from networks import registry
from networks.ach import building, freezing, schedule, sending
from networks.ach.acknowledging import acknowledged
from networks.ach.acknowledgments import Verdict
from networks.ach.models import AchEntry
from networks.ach.network import AchNetwork
from networks.ach.rails import current
from tenants.actors import SYSTEM
from tenants.services import accounts
from tests.builders import NOW, make_source
from tests.networks.ach.builders import RAIL, make_originator, make_rail
from tests.networks.ach.folder import Folder
from tests.transfers.directions import DIRECTIONS
from transfers import submission, suspensions
from transfers.inbox import messages

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(params=DIRECTIONS)
def money(request):
    return DIRECTIONS[request.param]


@pytest.fixture
def row(acme, money):
    """What the rail has taken over, and a cut-off will take."""
    make_source(acme, account_number="000123456789")  # proven elsewhere
    make_rail(dual_release=False, auto_release_below=10**9)
    make_originator()
    undo = registry.connect(AchNetwork(RAIL), modes=["sandbox"])
    made = money.make(acme)
    submission.submit_due(money.transfer, now=NOW)
    assert entry().status == "waiting"
    yield made
    undo()


def entry():
    return AchEntry.objects.latest("pk")


def suspend(tenant):
    accounts.suspend(tenant_id=tenant.pk, actor=SYSTEM, now=NOW)


def test_what_waits_is_taken_back_and_fails(acme, money, row):
    suspend(acme)

    assert suspensions.withdraw_due(now=NOW) == 1
    assert suspensions.withdraw_due(now=NOW) == 0

    assert entry().status == "withdrawn"
    messages.process(money.transfer, now=NOW)
    row.refresh_from_db()
    assert row.status == "failed"
    assert invariants.check(now=NOW, full=True).findings == []


def test_nothing_of_others_is(acme, rival, row):
    suspend(rival)

    assert suspensions.withdraw_due(now=NOW) == 0
    assert entry().status == "waiting"


def test_what_is_in_a_file_stays_until_it_waits_again(acme, row, tmp_path):
    now = schedule.next_window(current(RAIL).parsed, NOW).frozen_from + timedelta(minutes=1)
    (file_id,) = freezing.freeze_due(RAIL, now=now)
    suspend(acme)
    assert suspensions.withdraw_due(now=now) == 0
    assert entry().status == "frozen"

    building.build(file_id, now=now)
    sending.send_next(RAIL, Folder(tmp_path), now=now)
    acknowledged(
        file_id,
        verdict=Verdict.REJECTED,
        rejected_batches={},
        rejected_entries={},
        code="file_hash",
        now=now,
    )
    assert entry().status == "waiting"

    assert suspensions.withdraw_due(now=now) == 1
    assert entry().status == "withdrawn"
