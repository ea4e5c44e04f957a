"""What seals cover of payments: the terms, each step and who decided it, and the recipients."""

from __future__ import annotations

from common.sealed import DatedRows
from payments.models import (
    Payment,
    PaymentAttempt,
    PaymentConfirmation,
    PaymentEvent,
    Recipient,
    RecipientVersion,
)
from transfers.accounts import CORRECTABLE

KINDS = (
    DatedRows(
        name="payments",
        label="terms of payments",
        model=Payment,
        join=(
            f"LEFT JOIN {PaymentAttempt._meta.db_table} AS first"
            " ON first.payment_id = line.id AND first.number = 1"
        ),
        as_first="first",
        changed_since="method network",
        layouts=(
            "id tenant_id recipient_id amount currency method network requires_confirmation"
            " created_at",
            "id tenant_id recipient_id amount currency method network requires_confirmation"
            " created_at speed",
            "id tenant_id recipient_id amount currency method network requires_confirmation"
            " created_at speed is_automatic",
        ),
    ),
    DatedRows(
        name="payment_tries",
        label="refused tries of payments",
        model=PaymentAttempt,
        at="ended_at",
        tenant="payment.tenant_id",
        join=f"LEFT JOIN {Payment._meta.db_table} AS payment ON payment.id = line.payment_id",
        layouts=(
            "id payment_id number method network network_reference code reason sent_at ended_at",
        ),
    ),
    DatedRows(
        name="payment_history",
        label="history of payments",
        model=PaymentEvent,
        tenant="payment.tenant_id",
        join=f"LEFT JOIN {Payment._meta.db_table} AS payment ON payment.id = line.payment_id",
        layouts=(
            "id payment_id sequence from_status to_status actor_type actor_id reason"
            " network_reference account_id created_at",
        ),
    ),
    DatedRows(
        name="payment_approvals",
        label="approvals of payments",
        model=PaymentConfirmation,
        at="decided_at",
        layouts=(
            "id tenant_id amount reason approvers expires_at decision decided_by decided_at"
            " decline_reason created_at payment_id",
        ),
        left_out="reminded_at",
    ),
    DatedRows(
        name="recipients",
        label="recipients",
        model=Recipient,
        join=(
            f"LEFT JOIN {RecipientVersion._meta.db_table} AS first"
            " ON first.recipient_id = line.id AND first.number = 1"
        ),
        as_first="first",
        changed_since=" ".join(CORRECTABLE),
        layouts=(
            "id tenant_id is_saved bank_name routing_number last4 fingerprint account_holder_name"
            " account_holder_type account_type created_at",
        ),
    ),
    DatedRows(
        name="recipient_versions",
        label="versions of recipients",
        model=RecipientVersion,
        tenant="owned.tenant_id",
        join=f"LEFT JOIN {Recipient._meta.db_table} AS owned ON owned.id = line.recipient_id",
        layouts=(
            "id recipient_id number code event_id bank_name routing_number last4 fingerprint"
            " account_holder_name account_holder_type account_type created_at",
        ),
        left_out="account_number_token",
    ),
)
