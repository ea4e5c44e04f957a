"""A bank says that an account has another number, while entries to that account are taken over,
frozen and sent."""

from __future__ import annotations

from datetime import timedelta

import pytest

from balance import invariants
from funding.models import FundingSource, FundingTransaction
from funding.transfer import FUNDING
from networks import registry
from networks.ach import acknowledging, building, freezing, schedule
from networks.ach.acknowledgments import Verdict
from networks.ach.inbound import reading
from networks.ach.models import AchEntry, Correction, OutFile
from networks.ach.network import AchNetwork
from networks.ach.rails import current
from networks.ach.sending import send_next
from networks.calendar import EASTERN
from tests.builders import NOW, make_source, make_tenant
from tests.funding.builders import run_due, top_up
from tests.networks.ach import life
from tests.networks.ach.builders import RAIL, make_originator, make_rail
from tests.networks.ach.folder import Folder
from tests.networks.ach.inbound.builders import answer_file, change_batch, changed, store
from tests.races.together import rounds, together
from transfers import submission
from transfers.inbox import arrivals, corrections

pytestmark = pytest.mark.django_db(transaction=True)
LATER = 8
NUMBER, CORRECTED = "000123456789", "74456709001"


@pytest.fixture
def source(transactional_db):
    """An account that a bank of ours may be asked to draw on."""
    verified = make_source(make_tenant(name="Acme"), account_number=NUMBER)
    make_rail(dual_release=False, auto_release_below=10**9, entries_per_file_max=3)
    make_originator()
    undo = registry.connect(AchNetwork(RAIL), modes=["sandbox"])
    yield verified
    undo()


def window_after(moment):
    """When the next cut-off after `moment` is frozen."""
    return schedule.next_window(current(RAIL).parsed, moment).frozen_from + timedelta(minutes=1)


def move(folder, now):
    """Whatever is frozen by now is built, sent, and taken by the bank."""
    freezing.freeze_due(RAIL, now=now)
    while building.build_next(RAIL, now=now):
        pass
    while send_next(RAIL, folder, now=now):
        pass
    for file in OutFile.objects.filter(status="sent"):
        acknowledging.acknowledged(
            file.pk, verdict=Verdict.ACCEPTED, rejected_batches={}, rejected_entries={}, now=now
        )


def notify(entry, now):
    """The bank puts a notification of change into its folder, and it is stored."""
    day = now.astimezone(EASTERN).date()
    records = change_batch(*changed(entry, "C01", CORRECTED), settlement=f"{day:%j}")
    store(answer_file(records, day=f"{day:%y%m%d}"), rail=RAIL, now=now)


def read(now):
    """The notification is read, told, and applied to the account."""
    reading.read_due(now=now)
    arrivals.collect(network=AchNetwork(RAIL), id_prefix="ftx_", now=now)
    corrections.apply_new(FUNDING, now=now)


@rounds(8, quick=2)
def test_each_entry_has_one_number_or_the_other_as_its_top_up_says(source, tmp_path, round_):
    folder = Folder(tmp_path)
    top_up(source.tenant, source=source)
    run_due(rounds=1)
    first_day = window_after(NOW)
    move(folder, first_day)
    now = window_after(first_day + timedelta(days=1))
    later = [top_up(source.tenant, source=source, now=NOW) for _ in range(LATER)]
    notify(AchEntry.objects.get(), now)

    def work(worker):
        if worker < 2:
            return read(now)
        if worker < 4:
            return move(folder, now)
        for row in later[worker - 4 :: 2]:
            submission.submit_due(FUNDING, now=now - timedelta(minutes=5), only=row.pk)
        return None

    outcomes = together(work, workers=6)
    read(now)
    last = top_up(source.tenant, source=source, now=now)
    submission.submit_due(FUNDING, now=now)
    move(folder, window_after(now + timedelta(days=1)))

    assert [each for each in outcomes if isinstance(each, Exception)] == []
    assert Correction.objects.get().status == "applied"
    assert FundingSource.objects.get().version == 2
    numbers = {1: NUMBER, 2: CORRECTED}
    rows = FundingTransaction.objects.in_bulk()
    for entry in AchEntry.objects.all():
        assert entry.account_number == numbers[rows[entry.instruction_id].account_version]
    assert AchEntry.objects.get(instruction_id=last.pk).account_number == CORRECTED
    assert set(AchEntry.objects.values_list("status", flat=True)) == {"accepted"}
    assert AchEntry.objects.count() == LATER + 2
    assert set(life.assert_same(folder)) >= {NUMBER, CORRECTED}
    assert invariants.check(now=now, full=True).findings == []
