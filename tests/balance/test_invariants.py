from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError

from balance import invariants, tasks
from balance.invariants import Finding
from balance.models import BalanceTransaction, LedgerCheck
from tests.balance.builders import balance_of, fund
from tests.balance.corruption import tamper
from tests.builders import NOW
from tests.races.together import together

pytestmark = pytest.mark.usefixtures("ledger_only")


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
        assert [(scope.tenant_ids, scope.full) for scope in scopes] == [((acme.pk,), True)]

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
        """Not even what the audit's role may write."""

        @invariants.register
        def repair(scope):
            LedgerCheck.objects.update(ok=True)
            return []

        with pytest.raises(DatabaseError, match="read-only transaction"):
            invariants.check(now=NOW)

        assert LedgerCheck.objects.get().finished_at is None

    @pytest.mark.django_db(transaction=True)
    def test_a_check_moves_no_money(self, acme):
        @invariants.register
        def repair(scope):
            fund(acme, 5)
            return []

        with pytest.raises(DatabaseError, match="permission denied for function balance_post"):
            invariants.check(now=NOW)

        assert not BalanceTransaction.objects.exists()

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
