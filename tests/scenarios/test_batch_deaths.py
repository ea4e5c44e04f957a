"""SIGKILL to workers in the middle of a batch: what they had goes out again, under its id, once."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from datetime import timedelta

import pytest

from balance import invariants
from common.clock import utc_now
from networks.sandbox.models import SandboxEvent, SandboxInstruction
from tests.builders import NOW, make_endpoint, make_source
from tests.funding.builders import top_up
from tests.scenarios import dying
from tests.scenarios.dying import Moment
from tests.scenarios.product import wait_until
from tests.transfers.directions import DIRECTIONS
from transfers import submission
from transfers.submission import LEASE
from webhooks.models import WebhookDelivery, WebhookEvent

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), pytest.mark.timeout(300)]

DEATHS = (Moment.CALLING, Moment.CALLED, Moment.RECORDING)
WORKERS, KILLS, ROWS = 4, 12, 1_200
SOON = 60  # seconds


def assert_handed_over_once(money, rows):
    """The bank has one instruction of each, and each made its step, its event and its delivery
    once."""
    ids = {row.pk for row in rows}
    model = type(rows[0])
    assert set(model.objects.values_list("status", flat=True)) == {money.sent}
    assert set(SandboxInstruction.objects.values_list("external_id", flat=True)) == ids
    assert SandboxInstruction.objects.count() == len(ids)
    assert SandboxEvent.objects.count() == 2 * len(ids)
    told = Counter(WebhookEvent.objects.values_list("payment_id", "type"))
    assert told == Counter((pk, type) for pk in ids for type in EVENTS)
    assert Counter(WebhookDelivery.objects.values_list("event_id", flat=True)) == Counter(
        WebhookEvent.objects.values_list("pk", flat=True)
    )
    assert invariants.check(now=utc_now(), full=True).findings == []


EVENTS = ("payment.created", "payment.processing")


@pytest.mark.parametrize("moment", DEATHS, ids=lambda moment: moment.value)
@pytest.mark.parametrize(
    ("direction", "count"), [("in", 1), ("in", 2), ("in", 200), ("out", 1), ("out", 200)]
)
def test_what_a_dead_worker_had_waits_for_its_lease_and_goes_out_again(
    acme, direction, count, moment
):
    money = DIRECTIONS[direction]
    make_endpoint(acme)
    rows = [money.make(acme, 100) for _ in range(count)]

    assert dying.start(direction, moment).wait(SOON) == -signal.SIGKILL

    calls = 0 if moment is Moment.CALLING else 1
    known = SandboxInstruction.objects.values_list("submissions", flat=True)
    assert list(known) == [1] * (count * calls)
    held = type(rows[0]).objects.filter(leased_until=NOW + LEASE, status=money.unsent)
    assert held.count() == count
    assert submission.submit_due(money.transfer, now=NOW + LEASE - timedelta(seconds=1)) == 0
    assert submission.submit_due(money.transfer, now=NOW + LEASE) == count
    assert list(known.all()) == [1 + calls] * count
    assert_handed_over_once(money, rows)


def test_four_workers_who_are_killed_again_and_again(acme):
    money = DIRECTIONS["in"]
    make_endpoint(acme)
    source = make_source(acme)
    rows = [top_up(acme, amount=100, source=source) for _ in range(ROWS)]
    unsent = type(rows[0]).objects.filter(status=money.unsent)
    workers = [dying.start("in", Moment.GOES_ON) for _ in range(WORKERS)]
    rng = random.Random(7)
    try:
        wait_until(lambda: unsent.count() < ROWS, seconds=SOON, every=0.005)
        for _ in range(KILLS):
            assert unsent.exists(), "killed too late to prove anything"
            at = rng.randrange(WORKERS)
            workers[at].kill()
            workers[at].wait()
            workers[at] = dying.start("in", Moment.GOES_ON)
            time.sleep(rng.uniform(0, 0.2))
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()

    # The sessions of those who were killed last hold their rows until PostgreSQL notices.
    def all_are_submitted() -> bool:
        submission.submit_due(money.transfer, now=utc_now() + LEASE, limit=ROWS)
        return not unsent.exists()

    wait_until(all_are_submitted, seconds=SOON)

    again = SandboxInstruction.objects.filter(submissions__gt=1).count()
    assert again <= (KILLS + WORKERS) * dying.TOGETHER_FEW
    assert_handed_over_once(money, rows)
