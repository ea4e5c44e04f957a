from __future__ import annotations

import csv
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from balance import journal
from balance import services as ledger
from balance.kinds import MOVES
from balance.models import JournalLeg
from tests.balance.builders import balance_of, fund, movement


@pytest.fixture
def books(acme, rival):
    """Acme: 1,000 in, 300 locked and settled, 200 locked and given back, 50 taken back."""
    settled, unlocked = movement(acme, 300), movement(acme, 200)
    fund(acme, 1_000)
    ledger.lock(**settled)
    ledger.settle(**settled)
    ledger.lock(**unlocked)
    ledger.unlock(**unlocked)
    ledger.debit(**movement(acme, 50))
    fund(rival, 7)
    return acme


def legs_of(tenant):
    rows = JournalLeg.objects.filter(tenant=tenant).order_by("sequence", "-debit")
    return [(leg.sequence, leg.type, leg.account, leg.debit, leg.credit) for leg in rows]


def test_each_row_is_one_debit_and_one_credit(books):
    assert legs_of(books) == [
        (1, "credit", "bank_clearing", 1_000, 0),
        (1, "credit", "tenant_available", 0, 1_000),
        (2, "lock", "tenant_available", 300, 0),
        (2, "lock", "tenant_locked", 0, 300),
        (3, "settlement", "tenant_locked", 300, 0),
        (3, "settlement", "bank_clearing", 0, 300),
        (4, "lock", "tenant_available", 200, 0),
        (4, "lock", "tenant_locked", 0, 200),
        (5, "unlock", "tenant_locked", 200, 0),
        (5, "unlock", "tenant_available", 0, 200),
        (6, "debit", "tenant_available", 50, 0),
        (6, "debit", "bank_clearing", 0, 50),
    ]


def test_the_view_moves_between_the_accounts_that_the_code_names(books):
    seen = {
        kind: (debited, credited)
        for (_, kind, debited, debit, _), (_, _, credited, _, credit) in zip(
            legs_of(books)[::2], legs_of(books)[1::2], strict=True
        )
        if debit == credit
    }

    assert seen == {kind: (move.source, move.target) for kind, move in MOVES.items()}


def test_a_trial_balance_balances_and_shows_what_the_tenant_is_owed(books):
    totals = {total.account: total for total in journal.trial_balance(books.pk)}

    assert sum(total.debit for total in totals.values()) == 2_050
    assert sum(total.credit for total in totals.values()) == 2_050
    available, locked = totals["tenant_available"], totals["tenant_locked"]
    assert (available.credit - available.debit, locked.credit - locked.debit) == (650, 0)
    assert balance_of(books) == (650, 0, 0)


def test_the_trial_balance_of_all_tenants_shows_the_money_at_the_bank(books):
    bank = next(item for item in journal.trial_balance() if item.account == "bank_clearing")

    assert bank.debit - bank.credit == 650 + 7


def test_nothing_posted_is_an_empty_journal(acme):
    ledger.change_pending(tenant_id=acme.pk, delta=1)

    assert journal.trial_balance(acme.pk) == []
    assert list(journal.legs()) == []


def test_long_journals_are_read_in_parts(books, rival, monkeypatch):
    monkeypatch.setattr(journal, "_ROWS_PER_QUERY", 2)
    monkeypatch.setattr(journal, "_TENANTS_PER_QUERY", 1)

    legs = [(leg.tenant_id, leg.sequence) for leg in journal.legs()]

    acmes = [(books.pk, sequence) for sequence in (1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6)]
    assert legs == sorted([*acmes, (rival.pk, 1), (rival.pk, 1)])


class TestExport:
    def export(self, *arguments):
        output = StringIO()
        call_command("export_journal", *arguments, stdout=output)
        return list(csv.DictReader(output.getvalue().splitlines()))

    def test_writes_every_leg(self, books):
        posting = fund(books, 5, source_id="ftx_1", description="=HYPERLINK()")

        rows = self.export("--tenant", books.pk)

        assert len(rows) == 14
        assert rows[-1] == {
            "transactionId": posting.id,
            "tenantId": books.pk,
            "sequence": "7",
            "createdAt": "2026-11-20T15:00:00.000000Z",
            "type": "credit",
            "account": "tenant_available",
            "debit": "0",
            "credit": "5",
            "currency": "USD",
            "sourceType": "funding_transaction",
            "sourceId": "ftx_1",
            "description": "'=HYPERLINK()",
        }

    def test_writes_all_tenants(self, books):
        assert len(self.export()) == 14

    def test_refuses_an_unknown_tenant(self, db):
        with pytest.raises(CommandError, match="no tenant ten_x"):
            self.export("--tenant", "ten_x")
