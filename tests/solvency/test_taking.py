"""A proof is taken at a difference of zero, or not at all, and its audit finds what was changed."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from balance import services as ledger
from common.audits import Scope
from solvency import inclusion, invariants, reports, signing
from solvency.errors import ProofRefused
from solvency.models import ProofLeaf, ProofReport, ProofTree
from tests.balance.builders import movement
from tests.builders import make_tenant
from tests.database import owner
from tests.invariants.corruptions.damage import USUAL
from tests.invariants.corruptions.solvency import SOLVENCY
from tests.solvency.builders import DAY, NEXT_DAY, OWN_FUNDS, RAIL, adjust, fund, live, settle, take

pytestmark = pytest.mark.django_db


def said(report: ProofReport) -> dict[str, Any]:
    return reports.parsed(report)


def leaf(tenant) -> tuple[int, int, int, int]:
    return ProofLeaf.objects.values_list("available", "settled", "locked", "overdrawn").get(
        tenant=tenant
    )


def found() -> set[str]:
    return {finding.code for finding in invariants.check(Scope(full=True))}


class TestReport:
    def test_says_what_tenants_own_and_where_it_lies(self):
        ada, bob = live("Ada"), live("Bob")
        fund(ada, 1_000)
        fund(bob, 300)
        settle(bob, 70)
        ledger.lock(**movement(ada, 200))

        report = take(not_on_statement=25)

        tenants = said(report)["tenants"]
        assert (tenants["available"], tenants["settled"], tenants["locked"]) == (1_100, 70, 200)
        assert tenants["leaves"] == 2
        assert said(report)["bank"] == [
            {
                "rail": RAIL,
                "last4": "4321",
                "closing": OWN_FUNDS + 1_345,
                "notOnStatement": 25,
                "ownFunds": OWN_FUNDS,
            }
        ]
        assert (said(report)["difference"], said(report)["previous"]) == (0, "")
        assert (leaf(ada), leaf(bob)) == ((800, 0, 200, 0), (300, 70, 0, 0))
        assert found() == set()

    def test_lists_balances_below_zero_apart(self):
        ada, bob = live("Ada"), live("Bob")
        fund(ada, 1_000)
        fund(bob, 100)
        adjust(bob, -130)

        report = take()

        assert said(report)["tenants"]["available"] == 1_000
        assert said(report)["receivables"] == {"amount": 30, "count": 1}
        assert leaf(bob) == (0, 0, 0, 30)
        assert found() == set()

    def test_has_no_money_of_sandbox_tenants(self):
        fund(live(), 1_000)
        adjust(make_tenant(), 500)

        report = take()

        assert said(report)["tenants"]["available"] == 1_000
        assert said(report)["tenants"]["leaves"] == 1
        assert "suspense" not in [
            line["account"] for line in said(report)["operator"] if line["debit"] != line["credit"]
        ]

    def test_of_nobody_is_a_report_too(self):
        assert said(take())["tenants"]["leaves"] == 0
        assert found() == set()

    def test_holds_the_digest_of_the_one_before(self):
        first = take()
        second = take(NEXT_DAY)

        assert said(second)["previous"] == first.digest
        assert found() == set()

    def test_is_signed_over_every_byte(self):
        report = take()
        known = {"key_id": report.key_id, "signature": report.signature}

        assert signing.is_genuine(report.content, **known)
        assert not signing.is_genuine(report.content.replace("0", "1", 1), **known)
        assert not signing.is_genuine(report.content, **known | {"key_id": "another"})
        assert not signing.is_genuine(report.content, **known | {"signature": "no base64"})


class TestRefused:
    @pytest.mark.parametrize(
        "change", [{"bank_closing": OWN_FUNDS + 99}, {"own_funds": OWN_FUNDS + 1}]
    )
    def test_where_the_bank_has_another_sum(self, change):
        fund(live(), 100)

        with pytest.raises(ProofRefused, match=r"settlement accounts say \$1\.00"):
            take(**change)
        assert not ProofReport.objects.exists()

    def test_where_tenants_own_more_than_the_books_settled(self):
        """A tenant's line without the operator's: as much is missing at the bank."""
        ledger.credit(**movement(live(), 100))

        with pytest.raises(ProofRefused, match=r"and \$1\.00 are owed"):
            take()

    def test_where_live_money_moved_by_a_rail_without_an_account(self):
        fund(live(), 100)

        with pytest.raises(ProofRefused, match=r"and \$1\.00 are owed"):
            take(rail="elsewhere")

    @pytest.mark.parametrize("day", [DAY, DAY.replace(day=19)])
    def test_for_a_day_that_does_not_come_next(self, day):
        take()

        with pytest.raises(ProofRefused, match="November 20, 2026 was proven already"):
            take(day)


class TestRows:
    @pytest.mark.parametrize("table", ["proofreport", "prooftree", "proofleaf"])
    @pytest.mark.parametrize(
        "statement", ["DELETE FROM solvency_{0}", "TRUNCATE solvency_{0} CASCADE"]
    )
    def test_stay(self, table, statement):
        fund(live(), 1)
        take()

        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement.format(table))

    def test_have_one_salt_a_tenant_and_a_day(self):
        ada, bob = live("Ada"), live("Bob")
        fund(ada, 1)
        fund(bob, 1)
        take()
        take(NEXT_DAY)

        salts = {inclusion.proof_of(leaf)["salt"] for leaf in ProofLeaf.objects.all()}
        assert len(salts) == 4
        for tree in ProofTree.objects.all():
            assert bytes(tree.nodes).count(ada.pk.encode()) == 0


FOUND = [damage for damage in SOLVENCY if damage.verdict == USUAL]


@pytest.mark.parametrize("damage", FOUND, ids=lambda damage: damage.name)
def test_damage_is_found(damage):
    ada, bob, _ = live("Ada"), live("Bob"), live("Cy")
    fund(ada, 1_000)
    fund(bob, 20)
    take()
    assert found() == set()

    with owner.as_superuser(triggers=False), connection.cursor() as cursor:
        cursor.execute(damage.sql)
        assert cursor.rowcount > 0

    assert damage.code in found()
