from __future__ import annotations

import pytest
from django.urls import reverse

from balance import invariants
from balance import services as ledger
from balance.models import (
    Adjustment,
    Balance,
    BalanceTransaction,
    LedgerCheck,
    LedgerCheckpoint,
)
from tenants.actors import SYSTEM
from tests.balance.builders import fund
from tests.builders import NOW

MODELS = [Adjustment, Balance, BalanceTransaction, LedgerCheck, LedgerCheckpoint]


@pytest.fixture
def books(acme, ledger_only):
    fund(acme, 1_000)
    ledger.adjust(tenant_id=acme.pk, type="debit", amount=1, reason="Fee", actor=SYSTEM, now=NOW)
    invariants.check(now=NOW)
    return acme


@pytest.mark.parametrize("model", MODELS)
def test_staff_see_money_and_cannot_touch_it(books, admin_client, model):
    row = model.objects.first()
    name = f"admin:balance_{model._meta.model_name}"

    assert admin_client.get(reverse(f"{name}_changelist")).status_code == 200
    assert admin_client.get(reverse(f"{name}_change", args=[row.pk])).status_code == 200
    assert admin_client.get(reverse(f"{name}_add")).status_code == 403
    assert admin_client.post(reverse(f"{name}_change", args=[row.pk]), {}).status_code == 403
    assert admin_client.post(reverse(f"{name}_delete", args=[row.pk])).status_code == 403


@pytest.mark.parametrize("column", ["pk", "tenant_id", "source_id"])
def test_balance_transactions_are_found_by_ids(books, rival, admin_client, column):
    fund(rival, 7)
    wanted = BalanceTransaction.objects.filter(tenant=books).latest("sequence")

    response = admin_client.get(
        reverse("admin:balance_balancetransaction_changelist"), {"q": getattr(wanted, column)}
    )

    found = set(response.context["cl"].queryset)
    assert wanted in found
    assert {row.tenant_id for row in found} == {books.pk}
