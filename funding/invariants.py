"""What must hold between funding, the ledger and the outbox: funding's part of `check_ledger`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.db.models import F, Q

from approvals import invariants as approvals
from approvals.models import ApprovalStatus
from common import audits
from common.audits import NEVER, Finding, Scope
from funding.deposit_transfer import DEPOSIT_ENTRIES
from funding.methods import METHODS
from funding.models import (
    DEPOSIT_SOURCE_TYPE,
    SOURCE_TYPE,
    AuthorizedDebit,
    Confirmation,
    DebitAuthorization,
    DepositEntry,
    FundingEvent,
    FundingSource,
    FundingTransaction,
    SourceType,
    SourceVerification,
)
from funding.services.approval_policy import POLICY
from funding.services.corrections import SOURCES
from funding.states import FUNDING_STATES, IN_FLIGHT, DepositStatus, FundingStatus
from funding.transfer import FUNDING
from networks.base import Method
from networks.schemes import RETRIED, RETRIES_MAX
from tenants.models import Tenant
from transfers import invariants as networks
from transfers.checks import TransferChecks, never_due
from webhooks.models import WebhookEvent

CHECKS = TransferChecks(
    name="funding",
    id_prefix="ftx_",
    table=FundingTransaction._meta.db_table,
    history=FundingEvent._meta.db_table,
    foreign_key="funding_id",
    accounts=FundingSource._meta.db_table,
    account_key="source_id",
    outbox=WebhookEvent._meta.db_table,
    source_type=SOURCE_TYPE,
    direction="in",
    stopped_by=FUNDING.stopped_by,
    states=FUNDING_STATES,
    dates={status: f"{status}_at" for status in FundingStatus.values},
    total="pending",
    open_statuses=IN_FLIGHT,
    unsent_statuses=(FundingStatus.RESERVED, FundingStatus.AWAITING_CONFIRMATION),
    to_be_sent="transfer.status = 'reserved'",
    # Completed: one credit. Returned after completion: a credit and a debit. Otherwise: nothing.
    postings="""CASE
        WHEN transfer.status = 'completed' THEN ARRAY['credit']
        WHEN transfer.status = 'failed' AND transfer.completed_at IS NOT NULL
            THEN ARRAY['credit', 'debit']
        ELSE ARRAY[]::text[] END""",
    # What settled, was final, or came back; what was rejected has none.
    books="""CASE
        WHEN transfer.status = 'completed' THEN ARRAY['in_final', 'in_settled']
        WHEN transfer.status = 'failed' AND transfer.completed_at IS NOT NULL
            THEN ARRAY['in_charged', 'in_final', 'in_returned_late', 'in_settled']
        WHEN transfer.status = 'failed'
            AND (transfer.returned OR transfer.settlement_date IS NOT NULL)
            THEN ARRAY['in_returned', 'in_settled']
        WHEN transfer.settlement_date IS NOT NULL THEN ARRAY['in_settled']
        ELSE ARRAY[]::text[] END""",
    events="""CASE
        WHEN step.sequence = 1 THEN 'payment.created'
        WHEN step.to_status = 'pending' THEN 'payment.processing'
        WHEN step.to_status = 'completed' THEN 'payment.completed'
        WHEN step.to_status = 'failed' AND transfer.returned THEN 'payment.returned'
        WHEN step.to_status = 'failed' THEN 'payment.failed' END""",
)


# Auto-funding wakes up below the mark on the balance, and not before the wait for a known low ends.
_MARKS = f"""
SELECT tenant_id, 'balance', CASE
    WHEN balance.low_noted_until > ballast_now() + {NEVER} THEN 'is noted as low until '
        || balance.low_noted_until
    ELSE 'wakes auto-funding below ' || coalesce(balance.notify_below::text, 'nothing')
        || ', its settings say ' || coalesce(config.low_balance_threshold::text, 'nothing') END
FROM (
    SELECT tenant_id, notify_below, low_noted_until FROM balance
    WHERE %(tenant_ids)s::text[] IS NULL OR tenant_id = ANY(%(tenant_ids)s)
) AS balance FULL JOIN (
    SELECT tenant_id, low_balance_threshold FROM funding_autofundingconfig
    WHERE enabled AND (%(tenant_ids)s::text[] IS NULL OR tenant_id = ANY(%(tenant_ids)s))
) AS config USING (tenant_id)
WHERE balance.notify_below IS DISTINCT FROM config.low_balance_threshold
    OR balance.low_noted_until > ballast_now() + {NEVER}
"""  # noqa: S608  # our own text


# Three entries for each verification that has any, of its amounts.
_DEPOSITS = """
SELECT found.tenant_id, found.id, 'has other entries than its amounts say'
FROM (
    SELECT source.tenant_id, verification.id, verification.amounts,
        array_agg(entry.amount::int ORDER BY entry.part) AS parts,
        bool_and(entry.source_id = source.id AND entry.tenant_id = source.tenant_id) AS own
    FROM funding_depositentry AS entry
    JOIN funding_sourceverification AS verification ON verification.id = entry.verification_id
    JOIN funding_fundingsource AS source ON source.id = verification.source_id
    WHERE %(tenant_ids)s::text[] IS NULL OR source.tenant_id = ANY(%(tenant_ids)s)
    GROUP BY source.tenant_id, verification.id
) AS found
WHERE NOT own OR cardinality(found.amounts) <> 2
    OR parts <> ARRAY[amounts[1]::int, amounts[2]::int, amounts[1]::int + amounts[2]::int]
"""
_DEPOSITS_UNSAID = """
SELECT entry.tenant_id, entry.id, 'is ' || entry.status || ', which its network did not say'
FROM funding_depositentry AS entry
WHERE entry.id = ANY(%(ids)s)
    AND (entry.status = 'completed' AND NOT EXISTS (
            SELECT FROM network_inbox_inboundevent AS message
            WHERE message.instruction_id = entry.id COLLATE "default"
                AND message.kind = 'final'
                AND message.outcome = 'applied')
        OR entry.status IN ('sent', 'completed') AND EXISTS (
            SELECT FROM network_inbox_inboundevent AS message
            WHERE message.instruction_id = entry.id COLLATE "default"
                AND message.kind IN ('returned', 'rejected')
                AND message.outcome = 'applied'))
"""


# A deposit that settled is a cost, and the debit that takes deposits back lowers it; what comes
# back is undone. `verification_collected` comes first by name.
_DEPOSIT_BOOKS = """
SELECT entry.tenant_id, entry.id,
    'is ' || entry.status || ' with the operator''s lines ' || coalesce(booked.steps::text, 'none')
FROM funding_depositentry AS entry
LEFT JOIN LATERAL (
    SELECT array_agg(step::text ORDER BY step COLLATE "C") AS steps,
        bool_and((line.amount, line.rail, line.tenant_id)
            IS NOT DISTINCT FROM (entry.amount, entry.network, entry.tenant_id)) AS fits
    FROM balance_operator_line AS line
    WHERE line.source_id = entry.id AND line.source_type = %(source_type)s
) AS booked ON true
CROSS JOIN LATERAL (
    SELECT EXISTS (
        SELECT FROM network_inbox_inboundevent AS message
        WHERE message.instruction_id = entry.id COLLATE "default"
            AND message.kind IN ('settled', 'final', 'returned') AND message.outcome = 'applied'
    ) OR entry.settlement_date IS NOT NULL AS has_settled
) AS said
WHERE entry.id = ANY(%(ids)s) AND (booked.fits IS FALSE
    OR coalesce(booked.steps, ARRAY[]::text[]) <> CASE
        WHEN NOT said.has_settled THEN ARRAY[]::text[]
        WHEN entry.status = 'failed' THEN ARRAY['verification_collected', 'verification_paid']
        WHEN entry.method = 'ach_debit' THEN ARRAY['verification_collected']
        ELSE ARRAY['verification_paid'] END)
"""


_DEPOSIT_NEVER_DUE = never_due(
    table=DepositEntry._meta.db_table,
    open_statuses=[DepositStatus.CREATED],
    stopped_by=DEPOSIT_ENTRIES.stopped_by,
)


def check_deposits(scope: Scope) -> Iterator[Finding]:
    """Check that the entries of each verification are what its amounts say, and that those to be
    sent are due. Only the full check looks."""
    if scope.full:
        yield from audits.found("funding_deposit", _DEPOSITS, scope.values)
        yield from audits.found("funding_deposit_never_due", _DEPOSIT_NEVER_DUE, scope.values)


def judge_deposits(ids: Sequence[str]) -> Iterator[Finding]:
    """Check that these micro-deposits are where their network said, and in the operator's books."""
    values = {"ids": list(ids), "source_type": DEPOSIT_SOURCE_TYPE}
    yield from audits.found("funding_deposit", _DEPOSITS_UNSAID, values)
    yield from audits.found("funding_deposit_books", _DEPOSIT_BOOKS, values)


def ask_banks_of_deposits(ids: Sequence[str]) -> Iterator[Finding]:
    """Compare these micro-deposits, where they were handed over, with the networks' own books."""
    handed_over = (DepositStatus.SENT, DepositStatus.COMPLETED)
    sent = DepositEntry.objects.filter(pk__in=ids, status__in=handed_over)
    return networks.with_banks("funding_deposit_bank", sent)


DEPOSITS = audits.rows_of_tenants(
    "micro-deposits", DepositEntry, judge_deposits, ask=ask_banks_of_deposits
)


def check_marks(scope: Scope) -> Iterator[Finding]:
    """Check that the mark on each balance row is the one that auto-funding waits for."""
    yield from audits.found("auto_funding_mark", _MARKS, scope.values)


def check_confirmations(scope: Scope) -> Iterator[Finding]:
    """Check that a funding awaits confirmation exactly while its approval is open, on the same
    terms.

    A funding that went through that status has an approval, and the answer had its effect.
    """
    is_open = Q(decision=ApprovalStatus.OPEN)
    awaits = Q(funding__status=FundingStatus.AWAITING_CONFIRMATION)
    same_terms = Q(amount=F("funding__amount"), source=F("funding__source"))
    went_on = Q(funding__reserved_at__isnull=False)
    approved = Q(decision=ApprovalStatus.APPROVED)
    found = Confirmation.objects.filter(
        is_open & ~awaits
        | ~is_open & awaits
        | ~same_terms
        | approved & ~went_on & ~Q(funding__status=FundingStatus.FAILED)
        | ~approved & went_on
    )
    unasked = FundingTransaction.objects.filter(requires_confirmation=True, confirmation=None)
    if not scope.full:
        # Open approvals have no `decided_at`, so both halves of the query find their rows by its
        # index.
        found = found.filter(Q(decided_at=None) | Q(decided_at__gt=scope.since))
        unasked = unasked.filter(status__in=IN_FLIGHT)
    yield from networks.with_approvals("funding", found, unasked, scope)


# The kinds and words of `debit_authorizations`; a debit that a bank has needs one that was in force
# right before it was sent.
_UNAUTHORIZED = f"""
SELECT funding.tenant_id, funding.id, CASE
    WHEN debit.id IS NULL THEN 'was sent without an authorization of the account holder'
    WHEN debit.in_force_at IS NULL THEN 'was sent, and nobody looked at ' || agreed.id || ' before'
    WHEN agreed.source_id <> funding.source_id OR agreed.tenant_id <> funding.tenant_id
        THEN 'draws on another account than ' || agreed.id
    WHEN agreed.ended_at < debit.in_force_at OR agreed.created_at > debit.in_force_at
        THEN agreed.id || ' was not in force when it was sent'
    WHEN funding.amount > agreed.amount_max THEN 'is more than ' || agreed.id || ' allows'
    ELSE agreed.id || ' is not of the kind that it was used as' END
FROM {FundingTransaction._meta.db_table} AS funding
JOIN {Tenant._meta.db_table} AS tenant ON tenant.id = funding.tenant_id AND tenant.mode = 'live'
JOIN {FundingSource._meta.db_table} AS source
    ON source.id = funding.source_id AND source.account_holder_type = 'individual'
LEFT JOIN {AuthorizedDebit._meta.db_table} AS debit ON debit.funding_id = funding.id
LEFT JOIN {DebitAuthorization._meta.db_table} AS agreed ON agreed.id = debit.authorization_id
WHERE funding.method = ANY(%(methods)s) AND funding.pending_at IS NOT NULL
    AND (%(tenant_ids)s::text[] IS NULL OR funding.tenant_id = ANY(%(tenant_ids)s))
    AND (%(full)s OR funding.pending_at > %(since)s)
    AND (debit.id IS NULL OR debit.in_force_at IS NULL OR debit.kind <> agreed.kind
        OR agreed.source_id <> funding.source_id OR agreed.tenant_id <> funding.tenant_id
        OR agreed.ended_at < debit.in_force_at OR agreed.created_at > debit.in_force_at
        OR funding.amount > agreed.amount_max)
"""  # noqa: S608  # our own text


def check_authorizations(scope: Scope) -> Iterator[Finding]:
    """Check that each debit of an individual's account that a live tenant sent was made on an
    authorization in force at that moment."""
    methods = [name for name, each in METHODS.items() if each.network_method == Method.ACH_DEBIT]
    values = {**scope.values, "methods": methods}
    yield from audits.found("funding_unauthorized", _UNAUTHORIZED, values)


# A retry is the first debit once more; the scheme allows two.
_RETRIES = f"""
SELECT retry.tenant_id, retry.id, CASE
    WHEN (retry.tenant_id, retry.source_id, retry.amount, retry.method)
        <> (first.tenant_id, first.source_id, first.amount, first.method)
        THEN 'is not the debit that it tries again, ' || first.id
    WHEN first.retry_of_id IS NOT NULL THEN 'tries a retry again, ' || first.id
    WHEN NOT first.returned OR first.return_code <> ALL(%(codes)s)
        THEN 'tries again what did not come back for want of funds, ' || first.id
    ELSE 'is one of more than two retries of ' || first.id END
FROM {FundingTransaction._meta.db_table} AS retry
JOIN {FundingTransaction._meta.db_table} AS first ON first.id = retry.retry_of_id
WHERE retry.retry_of_id IS NOT NULL
    AND (%(tenant_ids)s::text[] IS NULL OR retry.tenant_id = ANY(%(tenant_ids)s))
    AND (%(full)s OR retry.created_at > %(since)s)
    AND ((retry.tenant_id, retry.source_id, retry.amount, retry.method)
            <> (first.tenant_id, first.source_id, first.amount, first.method)
        OR first.retry_of_id IS NOT NULL
        OR NOT first.returned OR first.return_code <> ALL(%(codes)s)
        OR (SELECT count(*) FROM {FundingTransaction._meta.db_table} AS other
            WHERE other.retry_of_id = first.id
                AND (other.returned OR other.status <> 'failed')) > %(most)s)
"""  # noqa: S608  # our own text


def check_retries(scope: Scope) -> Iterator[Finding]:
    """Check that what was tried again had come back for want of funds, with the same terms, and not
    more often than the scheme allows."""
    values = {**scope.values, "codes": sorted(RETRIED), "most": RETRIES_MAX}
    yield from audits.found("funding_retry", _RETRIES, values)


def ask_banks(ids: Sequence[str]) -> Iterator[Finding]:
    """Compare these fundings, where they were handed over, with the networks' own books."""
    sent = FundingTransaction.objects.filter(pk__in=ids, pending_at__isnull=False)
    return networks.with_banks("funding_bank", sent)


def judge_accounts(ids: Sequence[str]) -> Iterator[Finding]:
    """Find bank accounts whose number cannot be decrypted, or is not the one that people see, or
    that changed without their bank's word."""
    rows = FundingSource.objects.filter(pk__in=ids)
    yield from networks.with_accounts("funding_account_number", rows, is_typed=_is_typed)
    yield from networks.with_versions(
        "funding_account_version", rows, SOURCES, is_typed=_is_typed, is_about=_went_to
    )


def _is_typed(source: FundingSource) -> bool:
    return source.type == SourceType.MANUAL


def _went_to(instruction_id: str, source_id: str) -> bool:
    """Whether a funding drew on this account, or deposits went to it."""
    return (
        FundingTransaction.objects.filter(pk=instruction_id, source=source_id).exists()
        or DepositEntry.objects.filter(pk=instruction_id, source=source_id).exists()
        or SourceVerification.objects.filter(pk=instruction_id, source=source_id).exists()
    )


ACCOUNTS = audits.rows_of_tenants("funding accounts", FundingSource, judge_accounts)


def check_answers(scope: Scope) -> Iterator[Finding]:
    """Find answers that neither the audit log nor the links account for."""
    return approvals.check(POLICY, scope, code="funding_answer_unwitnessed")


def check_messages(scope: Scope) -> Iterator[Finding]:
    """Find messages of networks about open fundings that have waited for a person for too long."""
    rows = FundingTransaction.objects.filter(status__in=IN_FLIGHT)
    return networks.with_messages(
        "funding_message_in_review", rows, scope, id_prefix=FUNDING.id_prefix
    )
