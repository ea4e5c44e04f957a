from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError

from balance import chains, invariants, tasks
from balance import services as ledger
from balance.invariants import Finding
from balance.models import LedgerCheck, LedgerCheckpoint
from tests.balance.builders import balance_of, fund, movement
from tests.balance.corruption import tamper
from tests.builders import NOW
from tests.races.together import together

pytestmark = pytest.mark.usefixtures("ledger_only")

FITS = "balance_transaction_fits_type"
COVERED = "balance_transaction_lock_covered"


@pytest.fixture
def books(acme, rival):
    """Four rows of acme (1,000 in, 300 locked and settled, 200 in) and one of rival."""
    payment = movement(acme, 300)
    fund(acme, 1_000)
    ledger.lock(**payment)
    ledger.settle(**payment)
    fund(acme, 200)
    fund(rival, 50)
    return acme


def found(**options):
    """(code, subject) of every finding."""
    report = invariants.check(now=NOW, **options)
    return {(finding.code, finding.subject) for finding in report.findings}


class TestCleanBooks:
    @pytest.mark.parametrize("full", [False, True])
    def test_nothing_is_found(self, books, full):
        assert invariants.check(now=NOW, full=full).ok

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
                [FITS],
                {("misfit", "row 1")},
                id="an amount is changed alone",
            ),
            pytest.param(
                "UPDATE balance_transaction SET type = 'debit'",
                1,
                [FITS],
                {("misfit", "row 1")},
                id="a type is changed",
            ),
            pytest.param(
                "UPDATE balance_transaction SET type = 'gift'",
                4,
                [FITS],
                {("misfit", "row 4")},
                id="a type is unknown",
            ),
            pytest.param(
                "UPDATE balance_transaction SET available_after = -1",
                2,
                [COVERED],
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


class TestProvenRows:
    """After an audit only new rows are read again, unless the audit is a full one."""

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


class TestRegisteredChecks:
    def test_a_check_of_another_app_is_part_of_every_audit(self, acme):
        finding = Finding(
            code="pending", tenant_id=acme.pk, subject="balance", message="is not the sum"
        )
        scopes = []

        @invariants.register
        def pending_matches(scope):
            scopes.append(scope)
            yield finding

        report = invariants.check(now=NOW, tenant_id=acme.pk, full=True)

        assert report.findings == [finding]
        assert [(scope.tenant_id, scope.full) for scope in scopes] == [(acme.pk, True)]

    @pytest.mark.django_db(transaction=True)
    def test_a_check_sees_one_moment(self, acme):
        fund(acme, 5)
        seen = []

        @invariants.register
        def look_twice(scope):
            seen.append(balance_of(acme))
            together(lambda _: fund(acme, 1), workers=1)
            seen.append(balance_of(acme))
            return []

        invariants.check(now=NOW)

        assert seen == [(5, 0, 0), (5, 0, 0)]
        assert balance_of(acme) == (6, 0, 0)

    @pytest.mark.django_db(transaction=True)
    def test_a_check_cannot_write(self, acme):
        @invariants.register
        def repair(scope):
            fund(acme, 5)
            return []

        with pytest.raises(DatabaseError, match="read-only transaction"):
            invariants.check(now=NOW)

        assert LedgerCheck.objects.get().finished_at is None

    def test_a_check_is_registered_once(self, db):
        ran = []

        def check(scope):
            ran.append(scope)
            return []

        invariants.register(check)
        invariants.register(check)
        invariants.check(now=NOW)

        assert len(ran) == 1


class TestStoredOutcome:
    def test_a_clean_audit_is_stored(self, books):
        report = invariants.check(now=NOW)

        run = LedgerCheck.objects.get(pk=report.id)
        assert (run.started_at, run.ok, run.findings) == (NOW, True, [])
        assert run.is_full is False
        assert run.tenant is None
        assert run.finished_at is not None

    def test_findings_are_stored_with_what_and_where(self, books):
        tamper(f"UPDATE balance SET available = 1 WHERE tenant_id = '{books.pk}'")

        report = invariants.check(now=NOW, tenant_id=books.pk, full=True)

        run = LedgerCheck.objects.get(pk=report.id)
        assert (run.ok, run.is_full, run.tenant_id) == (False, True, books.pk)
        assert run.findings[0] == {
            "code": "ledger_last_row",
            "tenant_id": books.pk,
            "subject": "balance",
            "message": "is (1, 0), its last row left (900, 0)",
        }

    def test_clean_audits_are_kept_for_30_days_and_others_for_good(self, books):
        tamper(f"UPDATE balance SET available = 1 WHERE tenant_id = '{books.pk}'")
        bad = invariants.check(now=NOW - timedelta(days=90)).id
        tamper(f"UPDATE balance SET available = 900 WHERE tenant_id = '{books.pk}'")
        invariants.check(now=NOW - timedelta(days=31))
        young = invariants.check(now=NOW - timedelta(days=29)).id

        now = invariants.check(now=NOW).id

        assert set(LedgerCheck.objects.values_list("pk", flat=True)) == {bad, young, now}

    def test_beat_audits_too(self, books):
        tasks.check_ledger()

        assert LedgerCheck.objects.get().ok is True


class TestCommand:
    def run(self, *arguments):
        output = StringIO()
        try:
            call_command("check_ledger", *arguments, "--json", stdout=output)
        except CommandError as error:
            return json.loads(output.getvalue()), str(error)
        return json.loads(output.getvalue()), ""

    def test_clean_books(self, books):
        result, failure = self.run("--full")

        assert failure == ""
        assert result == {"checkId": LedgerCheck.objects.get().pk, "ok": True, "findings": []}

    def test_findings_end_it_with_an_error_that_says_what_and_where(self, books):
        tamper(f"UPDATE balance SET sequence = 5 WHERE tenant_id = '{books.pk}'")

        result, failure = self.run("--tenant", books.pk)

        assert failure.splitlines()[0] == (
            f"ledger_sequence: {books.pk} balance: stands at row 5, the last row is 4"
        )
        assert result["ok"] is False
        assert result["findings"][0] == {
            "code": "ledger_sequence",
            "tenantId": books.pk,
            "subject": "balance",
            "message": "stands at row 5, the last row is 4",
        }

    def test_an_unknown_tenant_is_not_called_clean(self, db):
        with pytest.raises(CommandError, match="no tenant ten_x"):
            call_command("check_ledger", "--tenant", "ten_x")
