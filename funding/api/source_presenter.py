"""What a client sees of a bank account: everything but its number."""

from __future__ import annotations

from typing import Any

from api.bank_accounts import bank_account
from common import clock
from funding.models import FundingSource


def funding_source(source: FundingSource) -> dict[str, Any]:
    """A funding source as the API shows it."""
    return {
        "id": source.pk,
        "type": str(source.type),
        "status": str(source.status),
        "verificationMethod": str(source.verification_method),
        **bank_account(source),
        "supportedMethods": [str(method) for method in source.supported_methods],
        "isDefault": source.is_default,
        "lastReturnCode": source.last_return_code or None,
        "createdAt": clock.text_of(source.created_at),
        "removedAt": source.removed_at and clock.text_of(source.removed_at),
    }


def removal(source: FundingSource) -> dict[str, Any]:
    """The answer to a removal."""
    shown = funding_source(source)
    return {name: shown[name] for name in ("id", "status", "removedAt")}
