"""What seals cover of funding: the terms, each step and who decided it, and the bank accounts."""

from __future__ import annotations

from common.sealed import DatedRows
from funding.models import (
    AuthorizedDebit,
    AutoFundingDecision,
    Confirmation,
    DebitAuthorization,
    DepositEntry,
    FundingEvent,
    FundingSource,
    FundingSourceVersion,
    FundingTransaction,
)
from transfers.accounts import CORRECTABLE

KINDS = (
    DatedRows(
        name="funding",
        label="terms of funding",
        model=FundingTransaction,
        layouts=(
            "id tenant_id source_id amount currency method trigger created_at",
            "id tenant_id source_id amount currency method trigger created_at retry_of_id",
            "id tenant_id source_id amount currency method trigger created_at retry_of_id speed",
        ),
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
        join=(
            f"LEFT JOIN {FundingSourceVersion._meta.db_table} AS first"
            " ON first.source_id = line.id AND first.number = 1"
        ),
        as_first="first",
        changed_since=" ".join(CORRECTABLE),
        layouts=("id tenant_id type routing_number last4 fingerprint created_at",),
    ),
    DatedRows(
        name="debit_authorizations",
        label="authorizations of debits",
        model=DebitAuthorization,
        layouts=(
            "id tenant_id source_id kind scope text text_version amount_rule amount_max monthly_max"
            " revocation accepted_at address accepted_by_type accepted_by_id created_at",
        ),
        left_out="ended_at ended_because ended_by_type ended_by_id",
    ),
    DatedRows(
        name="debit_authorization_ends",
        label="ends of authorizations",
        model=DebitAuthorization,
        at="ended_at",
        layouts=("id ended_at ended_because ended_by_type ended_by_id",),
        left_out=(
            "tenant_id source_id kind scope text text_version amount_rule amount_max monthly_max"
            " revocation accepted_at address accepted_by_type accepted_by_id created_at"
        ),
    ),
    DatedRows(
        name="authorized_debits",
        label="debits by authorization",
        model=AuthorizedDebit,
        tenant="authorization_.tenant_id",
        join=(
            f"LEFT JOIN {DebitAuthorization._meta.db_table} AS authorization_"
            " ON authorization_.id = line.authorization_id"
        ),
        layouts=(
            "id funding_id authorization_id kind created_at",
            "id funding_id authorization_id kind created_at is_retry",
        ),
        left_out="in_force_at",
    ),
    DatedRows(
        name="deposits",
        label="entries that prove bank accounts",
        model=DepositEntry,
        layouts=(
            "id verification_id tenant_id source_id part amount currency method network created_at",
        ),
        left_out=(
            "account_version status network_reference trace_number settlement_date failure_code"
            " withdrawal_asked_at held_at hold_reason parked_for next_attempt_at leased_until"
            " lease_version attempts updated_at"
        ),
    ),
    DatedRows(
        name="funding_source_versions",
        label="versions of bank accounts",
        model=FundingSourceVersion,
        tenant="source.tenant_id",
        join=f"LEFT JOIN {FundingSource._meta.db_table} AS source ON source.id = line.source_id",
        layouts=(
            "id source_id number code event_id bank_name routing_number last4 fingerprint"
            " account_holder_name account_holder_type account_type created_at",
        ),
        left_out="account_number_token",
    ),
)
