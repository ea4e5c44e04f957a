"""What seals cover of funding: the terms, each step and who decided it, and the bank accounts."""

from __future__ import annotations

from common.sealed import DatedRows
from funding.models import (
    AutoFundingDecision,
    Confirmation,
    FundingEvent,
    FundingSource,
    FundingTransaction,
)

KINDS = (
    DatedRows(
        name="funding",
        label="terms of funding",
        model=FundingTransaction,
        layouts=("id tenant_id source_id amount currency method trigger created_at",),
    ),
    DatedRows(
        name="funding_history",
        label="history of funding",
        model=FundingEvent,
        tenant="funding.tenant_id",
        join=(
            f"LEFT JOIN {FundingTransaction._meta.db_table} AS funding"
            " ON funding.id = line.funding_id"
        ),
        layouts=(
            "id funding_id sequence from_status to_status actor_type actor_id reason"
            " network_reference account_id created_at",
        ),
    ),
    DatedRows(
        name="funding_approvals",
        label="approvals of funding",
        model=Confirmation,
        at="decided_at",
        layouts=(
            "id tenant_id amount reason approvers expires_at decision decided_by decided_at"
            " decline_reason created_at funding_id source_id",
        ),
        left_out="reminded_at",
    ),
    DatedRows(
        name="auto_funding",
        label="auto-funding decisions",
        model=AutoFundingDecision,
        layouts=(
            "id tenant_id outcome reason available in_flight threshold amount funding_id"
            " created_at",
        ),
    ),
    DatedRows(
        name="funding_sources",
        label="bank accounts",
        model=FundingSource,
        layouts=("id tenant_id type routing_number last4 fingerprint created_at",),
    ),
)
