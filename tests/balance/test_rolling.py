"""Each tick proves its share of the tenants from the first row: all of them within a day."""

from __future__ import annotations

from datetime import timedelta

import pytest

from balance import invariants, proving, rolling
from balance.models import LedgerCheck, LedgerFullProof
from common import audits, database_clock
from common.audits import Finding, Slices, Unanswered
from tests.balance.builders import fund
from tests.balance.corruption import tamper
from tests.builders import NOW, make_tenant

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("ledger_only")]

TICK = timedelta(minutes=15)


def tick(now):
    """What beat starts every 15 minutes; the codes of what it finds."""
    with database_clock.at(now):
        report = invariants.check(now=now, roll=True)
    return {finding.code for finding in report.findings}


def proven_at():
    return dict(LedgerFullProof.objects.values_list("tenant_id", "proven_at"))


class Rows:
    """A kind of row of which each tenant has as many as the test says."""

    def __init__(self, count):
        self.ids = [f"row_{number}" for number in range(count)]
        self.judged: list[str] = []
        self.bad: set[str] = set()
        self.tenant_id = ""

    def register(self):
        audits.register_slices(
            Slices(name="rows", recent=lambda scope: (), page=self.page, judge=self.judge)
        )

    def page(self, tenant_ids, after, limit):
        return [row for row in self.ids if row > after][:limit]

    def judge(self, ids):
        self.judged += ids
        for row in self.bad.intersection(ids):
            yield Finding(code="row", tenant_id=self.tenant_id, subject=row, message="is bad")


def test_everybody_is_proven_at_the_first_tick_and_within_each_day_after(monkeypatch):
    tenants = [make_tenant() for _ in range(5)]
    assert tick(NOW) == set()
    assert set(proven_at().values()) == {NOW}
    monkeypatch.setattr(rolling, "TICKS_PER_PASS", 4)
    monkeypatch.setattr(rolling, "OVERDUE", timedelta(hours=2))

    for number in range(1, 25):
        tick(NOW + number * TICK)
        oldest = min(proven_at().values())
        assert NOW + number * TICK - oldest <= timedelta(hours=1)

    assert set(proven_at()) == {tenant.pk for tenant in tenants}


def test_a_proof_of_the_future_is_none(acme):
    """The database's clock was wrong, or somebody wrote it: the tenant is proven again."""
    tick(NOW)
    LedgerFullProof.objects.update(proven_at=NOW + timedelta(days=365))

    with database_clock.at(NOW + TICK):
        oldest = rolling.oldest_proof()
    tick(NOW + TICK)

    assert oldest == acme.created_at
    assert proven_at() == {acme.pk: NOW + TICK}


def test_a_check_is_dated_by_the_database_where_its_process_is_ahead(acme):
    """Or its verdict would be the last one for a year."""
    with database_clock.at(NOW):
        invariants.check(now=NOW + timedelta(days=365))

    assert LedgerCheck.objects.get().started_at == NOW


def test_a_share_is_a_part_of_the_tenants_and_the_oldest_of_them(monkeypatch):
    tenants = [make_tenant() for _ in range(6)]
    tick(NOW)
    monkeypatch.setattr(rolling, "TICKS_PER_PASS", 3)

    tick(NOW + TICK)
    tick(NOW + 2 * TICK)

    in_order = sorted(tenant.pk for tenant in tenants)
    assert proven_at() == dict(
        zip(in_order, [NOW + TICK] * 2 + [NOW + 2 * TICK] * 2 + [NOW] * 2, strict=True)
    )


def test_what_is_overdue_is_proven_whatever_its_share(monkeypatch):
    make_tenant(), make_tenant()
    tick(NOW)

    tick(NOW + timedelta(hours=21))

    assert set(proven_at().values()) == {NOW + timedelta(hours=21)}


def test_a_finding_stays_until_it_is_gone(books):
    assert tick(NOW) == set()
    tamper(f"UPDATE balance_transaction SET description = 'x' WHERE tenant_id = '{books.pk}'")

    late = NOW + timedelta(hours=21)
    assert tick(NOW + TICK) <= {"ledger_rewritten"}  # it may be this tick's share
    assert tick(late) == tick(late + TICK) == tick(late + 2 * TICK) == {"ledger_rewritten"}

    tamper(f"UPDATE balance_transaction SET description = 'Test' WHERE tenant_id = '{books.pk}'")
    assert tick(late + 3 * TICK) == set()
    assert LedgerFullProof.objects.filter(is_ok=False).count() == 0


def test_a_large_tenant_is_proven_a_bit_at_each_tick(acme, monkeypatch):
    monkeypatch.setattr(proving, "SLICE", 2)
    monkeypatch.setattr(rolling, "LINES_PER_BATCH", 1)
    monkeypatch.setattr(rolling, "SECONDS_MAX", 0)
    fund(acme, 5)
    rows = Rows(5)
    rows.register()

    for number in range(4):  # the chain, the rules, two pages
        tick(NOW + number * TICK)
        assert proven_at() == {acme.pk: None}
    tick(NOW + 4 * TICK)

    assert rows.judged == rows.ids
    assert proven_at() == {acme.pk: NOW}  # as old as its oldest part


def test_findings_of_an_early_part_count_at_the_end(acme, monkeypatch):
    monkeypatch.setattr(proving, "SLICE", 2)
    monkeypatch.setattr(rolling, "LINES_PER_BATCH", 1)
    fund(acme, 5)
    rows = Rows(3)
    rows.bad = {"row_0"}
    rows.tenant_id = acme.pk
    rows.register()

    assert tick(NOW) == {"row"}

    proof = LedgerFullProof.objects.get(tenant=acme)
    assert (proof.proven_at, proof.is_ok, proof.began_at) == (NOW, False, None)


def test_nothing_is_proven_while_a_bank_does_not_answer(acme):
    rows = Rows(1)
    audits.register_slices(
        Slices(name="rows", recent=lambda scope: (), page=rows.page, judge=rows.judge, ask=silent)
    )

    assert tick(NOW) == set()

    assert set(proven_at().values()) <= {None}
    assert rolling.oldest_proof() == acme.created_at


def silent(ids):
    raise Unanswered("the bank")


def test_a_full_check_counts_as_a_proof(books, rival):
    with database_clock.at(NOW):
        invariants.check(now=NOW, full=True, tenant_id=rival.pk)
        assert proven_at() == {rival.pk: NOW}
        invariants.check(now=NOW, full=True)

    assert set(proven_at().values()) == {NOW}


def test_the_age_is_that_of_the_oldest_proof_or_of_a_tenant_without_one(acme, rival):
    assert rolling.oldest_proof() == acme.created_at
    with database_clock.at(NOW):
        invariants.check(now=NOW, full=True, tenant_id=acme.pk)
        invariants.check(now=NOW + TICK, full=True, tenant_id=rival.pk)

    assert rolling.oldest_proof() == NOW


class TestWindow:
    """The usual check goes on where the last one began, and looks back a day at least."""

    def since(self, now):
        scopes = []

        @audits.register
        def look(scope):
            scopes.append(scope.since)
            return []

        with database_clock.at(now):
            invariants.check(now=NOW)
        audits._checks.remove(look)
        return scopes[0]

    def test_the_first_one_looks_at_everything(self, acme):
        assert self.since(NOW) == audits.LONG_AGO

    def test_it_looks_back_a_day(self, acme):
        self.since(NOW)

        assert self.since(NOW + TICK) == NOW + TICK - timedelta(days=1)

    def test_when_beat_was_down_it_covers_all_of_that_time(self, acme):
        self.since(NOW)

        assert self.since(NOW + timedelta(days=3)) == NOW

    def test_a_check_that_was_killed_does_not_count(self, acme):
        self.since(NOW)
        killed = NOW + timedelta(days=2)

        @audits.register
        def die(scope):
            raise KeyboardInterrupt

        with database_clock.at(killed), pytest.raises(KeyboardInterrupt):
            invariants.check(now=NOW)
        audits._checks.remove(die)

        assert self.since(NOW + timedelta(days=3)) == NOW
