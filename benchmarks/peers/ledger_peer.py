"""django-ledger: one committed, posted journal entry through `commit_txs`."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal


def prepare() -> Callable[[], object]:
    """A journal entry of a dollar between two accounts."""
    from django.utils import timezone
    from django.utils.module_loading import import_string
    from django_ledger.models import EntityModel

    person = import_string("django.contrib.auth.models.User").objects.create(username="bench")
    entity = EntityModel.create_entity(
        name="Bench", admin=person, use_accrual_method=True, fy_start_month=1
    )
    chart = entity.create_chart_of_accounts(assign_as_default=True, commit=True, coa_name="Bench")
    cash, payable = (
        entity.create_account(
            coa_model=chart, code=code, role=role, name=name, balance_type=side, active=True
        )
        for code, role, name, side in (
            ("1010", "asset_ca_cash", "Cash", "debit"),
            ("2010", "lia_cl_acc_payable", "Tenants", "credit"),
        )
    )
    ledger = entity.create_ledger(name="Bench", posted=True)
    legs = [
        {"account": cash, "amount": Decimal(1), "tx_type": "debit", "description": "x"},
        {"account": payable, "amount": Decimal(1), "tx_type": "credit", "description": "x"},
    ]

    def post() -> None:
        entity.commit_txs(
            je_timestamp=timezone.localtime(),
            je_txs=legs,
            je_ledger_model=ledger,
            je_posted=True,
            force_je_retrieval=False,
        )

    return post
