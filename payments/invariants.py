"""What must hold between payments, the ledger and the outbox: their part of `check_ledger`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.db.models import Exists, F, OuterRef, Q

from approvals import invariants as approvals
from approvals.models import ApprovalStatus
from common import audits
from common.audits import Finding, Scope
from payments import selectors
from payments.models import SOURCE_TYPE, Payment, PaymentConfirmation, PaymentEvent, Recipient
from payments.services import totals
from payments.services.approval_policy import POLICY
from payments.services.corrections import RECIPIENTS
from payments.states import COLUMN_OF, OPEN, PAYMENT_STATES, PaymentStatus
from payments.transfer import PAYMENTS
from transfers import invariants as networks
from transfers.checks import TransferChecks
from webhooks.models import WebhookEvent

# An automatic payment has a row of each refused try, of other networks than its own and in their
# order; any other has none.
_TRIES = """
SELECT payment.tenant_id, payment.id, CASE
    WHEN payment.tries <> 1 + tried.count THEN 'was tried ' || payment.tries
        || ' times, with ' || tried.count || ' refused tries'
    WHEN NOT payment.is_automatic THEN 'goes another way, although its method was chosen'
    ELSE 'has a refused try that does not fit it' END
FROM payments_payment AS payment
CROSS JOIN LATERAL (
    SELECT count(*) AS count, coalesce(max(number), 0) AS last,
        coalesce(bool_or(network = payment.network OR method = payment.method), false) AS is_same
    FROM payments_paymentattempt WHERE payment_id = payment.id
) AS tried
WHERE payment.id = ANY(%(ids)s) AND (
    payment.tries <> 1 + tried.count OR tried.last <> tried.count OR tried.is_same
    OR payment.tries > 1 AND NOT payment.is_automatic)
"""


class _Checks(TransferChecks):
    """Payments may have been refused and gone another way."""

    def judge(self, ids: Sequence[str]) -> Iterator[Finding]:
        yield from super().judge(ids)
        yield from audits.found(f"{self.name}_tries", _TRIES, {"ids": list(ids)})


CHECKS = _Checks(
    name="payment",
    id_prefix="pay_",
    table=Payment._meta.db_table,
    history=PaymentEvent._meta.db_table,
    foreign_key="payment_id",
    accounts=Recipient._meta.db_table,
    account_key="recipient_id",
    outbox=WebhookEvent._meta.db_table,
    source_type=SOURCE_TYPE,
    direction="out",
    stopped_by=PAYMENTS.stopped_by,
    states=PAYMENT_STATES,
    dates={str(status): column for status, column in COLUMN_OF.items()},
    total="locked",
    open_statuses=OPEN,
    unsent_statuses=(PaymentStatus.WAITING_FOR_FUNDS, PaymentStatus.CREATED),
    # A payment that is held back becomes due when its balance is no longer short, so it is judged
    # only then.
    to_be_sent="""transfer.status = 'created'
        AND (transfer.confirmed_at IS NOT NULL
            OR NOT transfer.requires_confirmation AND transfer.second_look_at IS NULL)
        AND (transfer.held_back_at IS NULL OR EXISTS (
            SELECT FROM balance WHERE balance.tenant_id = transfer.tenant_id AND available >= 0
                AND posted_at < ballast_now() - interval '10 minutes'))""",
    # The postings of a payment: locked once it is `created`, then settled or unlocked; a return
    # credits it.
    postings="""CASE
        WHEN transfer.locked_at IS NULL THEN ARRAY[]::text[]
        WHEN transfer.status IN ('created', 'processing') THEN ARRAY['lock']
        WHEN transfer.status = 'completed' THEN ARRAY['lock', 'settlement']
        WHEN transfer.status = 'returned' THEN ARRAY['lock', 'settlement', 'credit']
        ELSE ARRAY['lock', 'unlock'] END""",
    # What settled, was final, or came back; what was rejected or canceled has none.
    books="""CASE
        WHEN transfer.status = 'completed' THEN ARRAY['out_final', 'out_settled']
        WHEN transfer.status = 'returned'
            THEN ARRAY['out_final', 'out_given_back', 'out_returned_late', 'out_settled']
        WHEN transfer.status = 'failed'
            AND (transfer.returned OR transfer.settlement_date IS NOT NULL)
            THEN ARRAY['out_returned', 'out_settled']
        WHEN transfer.settlement_date IS NOT NULL THEN ARRAY['out_settled']
        ELSE ARRAY[]::text[] END""",
    events="""CASE
        WHEN step.sequence = 1 THEN 'payment.created'
        WHEN step.to_status = 'processing' THEN 'payment.processing'
        WHEN step.to_status = 'completed' THEN 'payment.completed'
        WHEN step.to_status = 'returned' THEN 'payment.returned'
        WHEN step.to_status = 'failed' AND transfer.returned THEN 'payment.returned'
        WHEN step.to_status IN ('failed', 'canceled') THEN 'payment.failed' END""",
    # The network of a refused try has said that, and perhaps that it had accepted it.
    heard="""message.network = transfer.network
        OR message.kind IN ('accepted', 'rejected') AND EXISTS (
            SELECT FROM payments_paymentattempt AS refused
            WHERE refused.payment_id = transfer.id AND refused.network = message.network)""",
    # What is sent another way is ready to be sent since its money was set aside, and no longer
    # on its way.
    dated="""NOT EXISTS (
        SELECT FROM payments_paymentevent AS back
        WHERE back.payment_id = transfer.id
            AND back.from_status = 'processing' AND back.to_status = 'created'
            AND (back.sequence = step.sequence
                OR back.sequence > step.sequence AND step.to_status = 'processing'))""",
)

_TOTALS = """
SELECT coalesce(total.tenant_id, made.tenant_id), coalesce(total.scope, made.scope),
    'from ' || coalesce(total.hour, made.hour) || ' on the totals say '
    || coalesce(total.payments, 0) || ' payments of ' || coalesce(total.amount, 0) || ' ('
    || coalesce(total.unasked, 0) || ' unasked), the payments ' || coalesce(made.payments, 0)
    || ' of ' || coalesce(made.amount, 0) || ' (' || coalesce(made.unasked, 0) || ')'
FROM (
    SELECT * FROM payments_paymenttotal
    WHERE (%(full)s OR hour >= date_trunc('hour', %(since)s::timestamptz, 'UTC'))
        AND (%(tenant_ids)s::text[] IS NULL OR tenant_id = ANY(%(tenant_ids)s))
) AS total
FULL JOIN (
    SELECT tenant_id, scope, date_trunc('hour', created_at, 'UTC') AS hour, count(*) AS payments,
        sum(amount)::bigint AS amount,
        sum(CASE WHEN requires_confirmation THEN 0 ELSE amount END)::bigint AS unasked
    FROM payments_payment, unnest(counted_for) AS scope
    WHERE status <> ALL(%(gone)s)
        AND (%(full)s OR id IN (
            SELECT payment_id FROM payments_paymentevent
            WHERE sequence = 1 AND created_at >= date_trunc('hour', %(since)s::timestamptz, 'UTC')))
        AND (%(tenant_ids)s::text[] IS NULL OR tenant_id = ANY(%(tenant_ids)s))
    GROUP BY 1, 2, 3
) AS made USING (tenant_id, scope, hour)
WHERE (coalesce(total.payments, 0), coalesce(total.amount, 0), coalesce(total.unasked, 0))
    <> (coalesce(made.payments, 0), coalesce(made.amount, 0), coalesce(made.unasked, 0))
"""


def check_confirmations(scope: Scope) -> Iterator[Finding]:
    """Check that a payment waits for approval exactly while its approval is open, on the same
    terms.

    A payment with `confirmed_at` was approved. Each payment that requires approval has one. Those
    from before a second look were approved.
    """
    is_open, approved = Q(decision=ApprovalStatus.OPEN), Q(decision=ApprovalStatus.APPROVED)
    unsent = (PaymentStatus.WAITING_FOR_FUNDS, PaymentStatus.CREATED)
    awaits = Q(payment__confirmed_at=None, payment__status__in=unsent)
    confirmed = Q(payment__confirmed_at__isnull=False)
    is_former = Q(created_at__lt=F("payment__second_look_at"))
    counts = Q(payment__second_look_at=None) | Q(created_at__gte=F("payment__second_look_at"))
    at_odds = is_open & ~awaits | ~is_open & awaits | approved & ~confirmed | ~approved & confirmed
    found = PaymentConfirmation.objects.filter(
        counts & at_odds | is_former & ~approved | ~Q(amount=F("payment__amount"))
    )
    asked = PaymentConfirmation.objects.filter(counts, payment=OuterRef("pk"))
    unasked = Payment.objects.filter(selectors.NEEDS_APPROVAL, ~Exists(asked))
    if not scope.full:
        found = found.filter(is_open | Q(decided_at__gt=scope.since))
        unasked = unasked.filter(status__in=(PaymentStatus.WAITING_FOR_FUNDS, *OPEN))
    yield from networks.with_approvals("payment", found, unasked, scope)


def check_totals(scope: Scope) -> Iterator[Finding]:
    """Find hours in which the totals are not what the payments add up to, so that a limit on money
    out lets through more or less than it says."""
    values = {**scope.values, "gone": [str(status) for status in totals.GONE]}
    yield from audits.found("payment_total", _TOTALS, values)


def check_answers(scope: Scope) -> Iterator[Finding]:
    """Find answers that neither the audit log nor the links account for."""
    return approvals.check(POLICY, scope, code="payment_answer_unwitnessed")


def check_messages(scope: Scope) -> Iterator[Finding]:
    """Find messages of networks about open payments that have waited for a person for too long."""
    rows = Payment.objects.filter(status__in=(PaymentStatus.WAITING_FOR_FUNDS, *OPEN))
    return networks.with_messages(
        "payment_message_in_review", rows, scope, id_prefix=PAYMENTS.id_prefix
    )


def ask_banks(ids: Sequence[str]) -> Iterator[Finding]:
    """Compare these payments, where they were handed over, with the networks' own books."""
    sent = Payment.objects.filter(pk__in=ids, processing_at__isnull=False)
    return networks.with_banks("payment_bank", sent)


def judge_accounts(ids: Sequence[str]) -> Iterator[Finding]:
    """Find recipients whose number cannot be decrypted, or is not the one that people see, or that
    changed without their bank's word."""
    rows = Recipient.objects.filter(pk__in=ids)
    yield from networks.with_accounts("payment_account_number", rows, is_typed=_is_typed)
    yield from networks.with_versions(
        "payment_account_version", rows, RECIPIENTS, is_typed=_is_typed, is_about=_went_to
    )


def _is_typed(_recipient: Recipient) -> bool:
    return True


def _went_to(instruction_id: str, recipient_id: str) -> bool:
    return Payment.objects.filter(pk=instruction_id, recipient=recipient_id).exists()


ACCOUNTS = audits.rows_of_tenants("payment accounts", Recipient, judge_accounts)
