"""What may not be sent for now is parked by the first claim, and given back once it may."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from balance import invariants
from common import database_clock
from networks.sandbox.models import SandboxInstruction
from tenants.actors import SYSTEM
from tenants.services import accounts, switches
from tests.builders import NOW
from tests.database import owner
from tests.transfers.directions import DIRECTIONS
from transfers import claims, holds, submission

LATER = NOW + timedelta(minutes=1)
STAFF: dict[str, Any] = {"reason": "look", "actor": SYSTEM, "now": NOW}


@pytest.fixture(params=DIRECTIONS)
def money(request):
    return DIRECTIONS[request.param]


@pytest.fixture(autouse=True)
def books_balance(db):
    """After every story the books agree with it."""
    yield
    assert invariants.check(now=NOW, full=True).findings == []


def switch(**scope):
    """Stops something and returns what lets it go on."""

    def stop(money, tenant):
        chosen = {"tenant_id": tenant.pk} if scope == {"tenant_id": True} else scope
        engaged = switches.engage(
            kind=money.transfer.stopped_by, reason="Look", actor=SYSTEM, now=NOW, **chosen
        )
        return engaged.pk, lambda: switches.release(switch_id=engaged.pk, **STAFF)

    return stop


def suspension(money, tenant):
    accounts.suspend(tenant_id=tenant.pk, actor=SYSTEM, now=NOW)
    return tenant.pk, lambda: accounts.release(tenant_id=tenant.pk, actor=SYSTEM, now=NOW)


EVERY_REASON = pytest.mark.parametrize(
    "stop",
    [switch(), switch(network="sandbox"), switch(tenant_id=True), suspension],
    ids=["all", "network", "tenant", "suspended"],
)


def read(row):
    return type(row).objects.get(pk=row.pk)


def run(money):
    """One run; returns whether it woke another."""
    woken = []
    submission.run(money.transfer, now=NOW, wake=lambda: woken.append(True))
    return bool(woken)


def submit(money, now=NOW):
    return submission.submit_due(money.transfer, now=now)


class TestARowThatMayNotBeSent:
    @EVERY_REASON
    def test_is_parked_by_the_first_claim_and_goes_on_after_its_release(self, acme, money, stop):
        row = money.make(acme)
        reason, go_on = stop(money, acme)

        assert submit(money) == 0
        parked = read(row)
        assert (parked.status, parked.parked_for) == (money.unsent, reason)
        assert (parked.attempts, parked.lease_version, parked.next_attempt_at) == (0, 0, NOW)
        assert parked.is_unsent

        go_on()
        assert submit(money, LATER) == 1
        assert (read(row).status, read(row).parked_for) == (money.sent, "")
        assert SandboxInstruction.objects.get().submissions == 1

    @EVERY_REASON
    def test_is_read_by_no_later_sweep(self, acme, money, stop, django_assert_num_queries):
        for _ in range(3):
            money.make(acme, 100)
        stop(money, acme)
        submit(money)

        with django_assert_num_queries(3):  # the time; which reasons are over; what is to be sent
            assert submit(money, LATER) == 0

    def test_waits_for_the_last_reason(self, acme, money):
        row = money.make(acme)
        _, activate = suspension(money, acme)
        submit(money)
        engaged, release = switch()(money, acme)

        activate()
        assert submit(money) == 0
        assert read(row).parked_for == engaged

        release()
        assert submit(money) == 1

    def test_keeps_the_pause_after_a_lost_answer(self, acme, money):
        """Its release does not shorten it: the network may still be about to say something."""
        row = money.make(acme, to="30002")
        submit(money)
        due = read(row).next_attempt_at
        _, go_on = switch()(money, acme)
        submit(money, due)
        assert (read(row).parked_for != "", read(row).attempts) == (True, 1)

        go_on()
        assert submit(money, due - timedelta(seconds=1)) == 0
        assert submit(money, due) == 1

    def test_can_be_held_and_goes_on_after_both(self, acme, money):
        row = money.make(acme)
        _, go_on = switch()(money, acme)
        submit(money)
        holds.hold(money.transfer, row.pk, **STAFF)

        go_on()
        assert submit(money) == 0
        holds.release(money.transfer, row.pk, **STAFF)

        assert submit(money) == 1

    def test_is_parked_no_longer_once_staff_stop_it(self, acme, money):
        row = money.make(acme)
        switch()(money, acme)
        submit(money)
        holds.hold(money.transfer, row.pk, **STAFF)

        holds.stop(money.transfer, row.pk, **STAFF)

        assert (read(row).status, read(row).parked_for) == ("failed", "")

    def test_holds_up_nobody_behind_it(self, acme, rival, money, monkeypatch):
        monkeypatch.setattr(submission, "RUN_MAX", 2)
        for _ in range(5):
            money.make(acme, 100)
        free = money.make(rival, 100)
        switch(tenant_id=True)(money, acme)

        runs = 0
        while run(money):
            runs += 1

        assert runs == 3
        assert read(free).status == money.sent


def test_many_are_given_back_run_by_run(acme, money, monkeypatch):
    monkeypatch.setattr(claims, "UNPARK_MAX", 2)
    rows = [money.make(acme, 100) for _ in range(5)]
    _, go_on = switch()(money, acme)
    submit(money)
    go_on()

    assert [run(money) for _ in range(3)] == [True, True, False]
    assert {read(row).status for row in rows} == {money.sent}


def test_a_run_that_took_as_many_as_it_may_is_not_the_last(acme, money, monkeypatch):
    monkeypatch.setattr(submission, "RUN_MAX", 2)
    rows = [money.make(acme, 100) for _ in range(3)]

    assert [run(money) for _ in range(2)] == [True, False]
    assert {read(row).status for row in rows} == {money.sent}


def test_a_clock_that_is_ahead_takes_nobodys_lease(acme, money):
    money.make(acme)
    lease = submission.LEASE
    with database_clock.at(NOW):
        mine = claims.claim(money.transfer, now=NOW, limit=9, lease=lease, network="sandbox")
        ahead = NOW + timedelta(days=365)
        theirs = claims.claim(money.transfer, now=ahead, limit=9, lease=lease, network="sandbox")

    assert (len(mine.rows), theirs.taken) == (1, 0)


def test_one_that_stays_parked_without_a_reason_is_a_finding(acme, money):
    row = money.make(acme)
    with owner.as_superuser(triggers=False):
        type(row).objects.filter(pk=row.pk).update(parked_for="swt_gone")

    (finding,) = invariants.check(now=NOW).findings

    assert (finding.code, finding.subject) == (f"{money.transfer.noun}_never_due", row.pk)
    submit(money)
    assert read(row).status == money.sent
