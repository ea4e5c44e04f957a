"""Several workers and a person at the desk send the same reversal at the same moment."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial

import pytest
from django.db import connection, transaction

from networks.ach import reversing
from networks.ach.models import AchEntry, AchReversal
from networks.ach.models.reversals import ReversalReason
from tests.database import owner
from tests.networks.ach.inbound.builders import NOW, make_batch, make_entry, make_rail
from tests.races.together import rounds, together, wait_for_a_lock

pytestmark = pytest.mark.django_db(transaction=True)
SECONDS_MAX = 60
sweep = partial(reversing.run, now=NOW)


@pytest.fixture
def approved(db):
    """A reversal that two people agreed on and that nobody has sent."""
    entry = make_entry(make_batch(make_rail(active=True)))
    proposed = reversing.propose(
        entry_id=entry.pk,
        reason=ReversalReason.DUPLICATE,
        discovered_at=NOW - timedelta(hours=1),
        staff="anna",
        note="sent twice",
        now=NOW,
    )
    return reversing.approve(reversal_id=proposed.pk, staff="bo", now=NOW)


def alone(act):
    """In a thread, with a connection of its own."""
    try:
        return act()
    finally:
        connection.close()


@rounds(4)
def test_a_reversal_is_sent_once(round_, approved):
    desk = partial(reversing.send, approved, now=NOW)

    outcomes = together(lambda worker: sweep() if worker else desk(), workers=4)

    assert not [each for each in outcomes if isinstance(each, Exception)]
    assert AchEntry.objects.filter(purpose="reversal").count() == 1
    assert AchReversal.objects.get().status == "approved"


def test_what_another_worker_sends_meanwhile_does_not_fail_the_reversal(approved):
    """The sweep has seen that there is no entry, and waits to read the terms."""
    entry = approved.entry
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            with owner.as_owner(), connection.cursor() as cursor:
                cursor.execute("LOCK TABLE ach_railversion IN ACCESS EXCLUSIVE MODE")
            swept = pool.submit(alone, sweep)
            wait_for_a_lock()
            make_entry(
                entry.batch,
                2,
                instruction_id=approved.pk,
                purpose="reversal",
                original=entry,
                is_debit=False,
                transaction_code=22,
            )
        swept.result(timeout=SECONDS_MAX)

    assert AchReversal.objects.get().status == "approved"
    assert reversing.run(now=NOW) == 1
    entry.refresh_from_db()
    assert (entry.status, AchReversal.objects.get().status) == ("returned", "done")
