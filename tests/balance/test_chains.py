from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection, transaction

from balance import chains, invariants, proofs
from balance import services as ledger
from balance.models import LedgerCheckpoint
from common.audits import Scope
from tests.balance.builders import fund
from tests.balance.corruption import tamper
from tests.builders import NOW
from tests.database import owner

pytestmark = pytest.mark.usefixtures("ledger_only")

SOUND = "balance_transaction_is_sound"


def digest_of(tenant):
    """Of all rows of the tenant, as a checkpoint keeps it."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT sum({proofs.DIGEST}) FROM balance_transaction AS posted WHERE tenant_id = %s",
            [tenant.pk],
        )
        return cursor.fetchone()[0]


def found(**options):
    """(code, subject) of every finding."""
    report = invariants.check(now=NOW, **options)
    return {(finding.code, finding.subject) for finding in report.findings}


def scans_so_far():
    """How often this session read the partitions of lines: whole, and by index."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(seq_scan)::int, sum(idx_scan)::int FROM pg_stat_xact_user_tables"
            " WHERE relname LIKE 'balance_transaction%'"
        )
        return dict(zip(("seq", "idx"), cursor.fetchone(), strict=True))


class TestCleanBooks:
    @pytest.mark.parametrize("full", [False, True])
    def test_nothing_is_found(self, books, full):
        assert invariants.check(now=NOW, full=full).ok

    @pytest.mark.django_db(transaction=True)
    @pytest.mark.parametrize("full", [False, True])
    def test_no_partition_is_read_whole_for_each_tenant(self, books, full):
        invariants.check(now=NOW)  # there are checkpoints, as there mostly are
        with transaction.atomic():
            before = scans_so_far()
            chains.check(Scope(full=full), now=NOW)
            after = scans_so_far()

        assert after["seq"] == before["seq"]
        assert after["idx"] > before["idx"]

    def test_nothing_is_found_where_nothing_happened(self, acme):
        ledger.change_pending(tenant_id=acme.pk, delta=100)

        assert found() == set()
        assert not LedgerCheckpoint.objects.exists()

    def test_a_checkpoint_says_how_far_the_chain_is_proven(self, books):
        invariants.check(now=NOW)

        checkpoint = LedgerCheckpoint.objects.get(tenant=books)
        assert (checkpoint.sequence, checkpoint.available, checkpoint.locked) == (4, 900, 0)
        assert checkpoint.proven_at == NOW

    def test_checkpoints_reach_the_same_digest_in_one_step_or_in_many(self, books):
        invariants.check(now=NOW)
        fund(books, 5)
        invariants.check(now=NOW)
        in_steps = LedgerCheckpoint.objects.get(tenant=books).digest
        with owner.as_owner():
            LedgerCheckpoint.objects.all().delete()

        invariants.check(now=NOW)

        assert LedgerCheckpoint.objects.get(tenant=books).digest == in_steps
        assert found(full=True) == set()

    def test_one_tenant_may_be_checked_alone(self, books, rival):
        tamper(f"UPDATE balance SET available = 51 WHERE tenant_id = '{rival.pk}'")

        assert found(tenant_id=books.pk) == set()
        assert found(tenant_id=rival.pk) == {
            ("ledger_last_row", "balance"),
            ("ledger_sum", "balance"),
        }

    def test_every_tenant_is_reached_when_they_fill_many_snapshots(self, books, monkeypatch):
        monkeypatch.setattr("balance.chains.TENANTS_PER_SNAPSHOT", 1)

        assert found() == set()
        assert LedgerCheckpoint.objects.count() == 2


class TestCorruption:
    """Each kind is planted in acme's books; rival's stay clean."""

    @pytest.mark.parametrize(
        ("change", "row", "without", "findings"),
        [
            pytest.param(
                "DELETE FROM balance_transaction",
                2,
                [],
                {("gap", "row 3"), ("unchained", "row 3"), ("sum", "balance")},
                id="a row is gone",
            ),
            pytest.param(
                "UPDATE balance_transaction SET sequence = 9",
                4,
                [],
                {("gap", "row 9"), ("sequence", "balance"), ("last_row", "balance")},
                id="a row is renumbered",
            ),
            pytest.param(
                "UPDATE balance_transaction SET available_after = 701",
                2,
                [],
                {("unchained", "row 2")},
                id="a balance after is changed",
            ),
            pytest.param(
                "UPDATE balance_transaction SET locked_after = 301",
                2,
                [],
                {("unchained", "row 2")},
                id="a locked balance after is changed",
            ),
            pytest.param(
                "UPDATE balance_transaction SET amount = 999, available_delta = 999",
                1,
                [],
                {("unchained", "row 1"), ("sum", "balance")},
                id="an amount is changed with its deltas",
            ),
            pytest.param(
                "UPDATE balance_transaction SET amount = 999",
                1,
                [SOUND],
                {("misfit", "row 1")},
                id="an amount is changed alone",
            ),
            pytest.param(
                "UPDATE balance_transaction SET type = 'debit'",
                1,
                [SOUND],
                {("misfit", "row 1")},
                id="a type is changed",
            ),
            pytest.param(
                "UPDATE balance_transaction SET type = 'gift'",
                4,
                [SOUND],
                {("misfit", "row 4")},
                id="a type is unknown",
            ),
            pytest.param(
                "UPDATE balance_transaction SET available_after = -1",
                2,
                [SOUND],
                {("uncovered_lock", "row 2"), ("unchained", "row 2")},
                id="a lock is not covered",
            ),
            pytest.param(
                "UPDATE balance_transaction SET created_at = created_at - interval '1 day'",
                3,
                [],
                {("backwards", "row 3")},
                id="a date goes back",
            ),
            pytest.param(
                "UPDATE balance SET available = available + 1",
                4,
                [],
                {("last_row", "balance"), ("sum", "balance")},
                id="available is changed",
            ),
            pytest.param(
                "UPDATE balance SET locked = 1",
                4,
                [],
                {("last_row", "balance"), ("sum", "balance")},
                id="locked is changed",
            ),
            pytest.param(
                "UPDATE balance SET is_low = true",
                4,
                [],
                {("low_flag", "balance")},
                id="a balance is marked as low that is not",
            ),
            pytest.param(
                "UPDATE balance SET notify_below = available + 1",
                4,
                [],
                {("low_flag", "balance")},
                id="a low balance is not marked",
            ),
            pytest.param(
                "UPDATE balance SET sequence = 3",
                4,
                [],
                {("sequence", "balance"), ("last_row", "balance")},
                id="the balance is one row behind",
            ),
            pytest.param(
                "DELETE FROM balance",
                4,
                [],
                {("sequence", "balance"), ("sum", "balance")},
                id="the balance row is gone",
            ),
            pytest.param(
                "DELETE FROM balance_transaction",
                4,
                [],
                {("sequence", "balance"), ("last_row", "balance"), ("sum", "balance")},
                id="the last row is gone",
            ),
        ],
    )
    @pytest.mark.parametrize("full", [False, True])
    def test_is_found(self, books, change, row, without, findings, full):
        tamper(
            f"{change} WHERE tenant_id = '{books.pk}' AND sequence = {row}",
            without=without,
        )

        report = invariants.check(now=NOW, full=full)

        assert {finding.tenant_id for finding in report.findings} == {books.pk}
        assert {
            (finding.code.removeprefix("ledger_"), finding.subject) for finding in report.findings
        } == findings
        assert not LedgerCheckpoint.objects.filter(tenant=books).exists()


@pytest.mark.parametrize("long_from", [1, 100])
class TestProvenRows:
    """After an audit only new rows are judged again, unless the audit is a full one and they are
    not what was proven, in a long history or in a short one."""

    @pytest.fixture(autouse=True)
    def _bound(self, long_from, monkeypatch):
        monkeypatch.setattr("balance.proofs.LONG_FROM", long_from)

    @pytest.fixture
    def proven(self, books):
        assert found() == set()
        return books

    def test_a_rewritten_old_row_is_found_by_the_full_audit(self, proven):
        tamper(
            "UPDATE balance_transaction SET description = 'Other'"
            f" WHERE tenant_id = '{proven.pk}' AND sequence = 2"
        )

        assert found() == set()
        assert found(full=True) == {("ledger_rewritten", "history")}

    def test_a_consistently_cut_off_end_is_found(self, proven):
        tamper(f"DELETE FROM balance_transaction WHERE tenant_id = '{proven.pk}' AND sequence = 4")
        tamper(f"UPDATE balance SET sequence = 3, available = 700 WHERE tenant_id = '{proven.pk}'")

        assert found() == {("ledger_sequence", "balance"), ("ledger_sum", "balance")}
        assert found(full=True) == {("ledger_rewritten", "history")}

    def test_a_new_row_that_does_not_follow_the_proven_ones_is_found(self, proven):
        fund(proven, 10)
        tamper(
            "UPDATE balance_transaction SET created_at = created_at - interval '1 day'"
            f", available_after = 911 WHERE tenant_id = '{proven.pk}' AND sequence = 5"
        )

        assert found() == {
            ("ledger_backwards", "row 5"),
            ("ledger_unchained", "row 5"),
            ("ledger_last_row", "balance"),
        }
        assert LedgerCheckpoint.objects.get(tenant=proven).sequence == 4

    def test_a_slow_audit_does_not_move_the_checkpoint_of_a_later_one_back(self, proven):
        (slow,) = chains._audit([proven.pk], full=True)
        fund(proven, 10)
        assert found() == set()

        chains._move_checkpoint(slow, NOW)

        assert LedgerCheckpoint.objects.get(tenant=proven).sequence == 5

    def test_a_full_audit_agrees_with_the_checkpoint(self, proven):
        before = LedgerCheckpoint.objects.get(tenant=proven)

        invariants.check(now=NOW + timedelta(hours=1), full=True)

        after = LedgerCheckpoint.objects.get(tenant=proven)
        assert (after.sequence, after.digest) == (before.sequence, before.digest)

    @pytest.mark.parametrize(
        ("change", "findings"),
        [
            pytest.param(
                "UPDATE balance_transaction SET amount = 5, available_delta = 5"
                " WHERE {mine} AND sequence = 1",
                {("unchained", "row 1"), ("sum", "balance"), ("rewritten", "history")},
                id="an amount",
            ),
            pytest.param(
                "UPDATE balance_transaction AS one SET source_id = other.source_id || 'x'"
                " FROM balance_transaction AS other WHERE one.{mine} AND other.{mine}"
                " AND one.sequence + other.sequence = 3",
                {("rewritten", "history")},
                id="two causes swapped",
            ),
            pytest.param(
                "UPDATE balance_transaction SET available_after = available_after"
                " + CASE sequence WHEN 1 THEN 7 ELSE -7 END WHERE {mine} AND sequence IN (1, 3)",
                {("unchained", "row 1"), ("rewritten", "history")},
                id="two balances that compensate",
            ),
            pytest.param(
                "UPDATE balance_transaction SET created_at = created_at + interval '1 microsecond'"
                " WHERE {mine} AND sequence = 4",
                {("last_row", "balance"), ("rewritten", "history")},
                id="a microsecond",
            ),
            pytest.param(
                "UPDATE balance_transaction SET created_at = created_at + interval '1 day'"
                " WHERE {mine} AND sequence = 2",
                {("backwards", "row 3"), ("rewritten", "history")},
                id="a date",
            ),
            pytest.param(
                "DELETE FROM balance_transaction WHERE {mine} AND sequence = 2",
                {("gap", "row 3"), ("unchained", "row 3"), ("sum", "balance")}
                | {("rewritten", "history")},
                id="a row is gone",
            ),
        ],
    )
    def test_what_happened_to_old_rows_is_named_by_the_full_audit(self, proven, change, findings):
        tamper(change.format(mine=f"tenant_id = '{proven.pk}'"))

        assert found(full=True) == {(f"ledger_{code}", subject) for code, subject in findings}

    @pytest.mark.parametrize("column", ["available", "locked"])
    def test_numbers_that_share_half_their_bits_differ(self, proven, column):
        """PostgreSQL's hash of a bigint folds its halves into one: 1 and 2^32 look the same."""
        values = [1, 2**32]
        digests = set()
        for value in values:
            tamper(
                f"UPDATE balance_transaction SET {column}_after = {value}"
                f" WHERE tenant_id = '{proven.pk}' AND sequence = 4"
            )
            digests.add(digest_of(proven))

        assert len(digests) == 2

    def test_a_forged_digest_does_not_hide_a_broken_chain(self, proven):
        tamper(
            "UPDATE balance_transaction SET available_after = available_after + 1"
            f" WHERE tenant_id = '{proven.pk}' AND sequence = 2"
        )
        LedgerCheckpoint.objects.filter(tenant=proven).update(digest=digest_of(proven))

        assert found(full=True) == {("ledger_unchained", "row 2")}

    def test_what_is_sound_is_not_judged_again(self, proven, rival):
        fund(proven, 1)

        assert proofs.sound([proven.pk, rival.pk]) == {proven.pk, rival.pk}
        assert found(full=True) == set()
        assert LedgerCheckpoint.objects.get(tenant=proven).sequence == 5
