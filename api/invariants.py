"""What the audit proves of the answers that are stored for repeated requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from api.models import IdempotencyRecord
from common import audits, crypto
from common.audits import Finding


def judge(ids: Sequence[str]) -> Iterator[Finding]:
    """Find answers that cannot be decrypted: moved to another key or tenant, or altered."""
    for record in IdempotencyRecord.objects.filter(pk__in=ids):
        try:
            crypto.decrypt(record.body_token, context=record.encryption_context)
        except (crypto.Undecryptable, ValueError):
            yield Finding(
                code="idempotency_unreadable",
                tenant_id=record.tenant_id,
                subject=record.pk,
                message="the answer kept for this key does not open",
            )


RECORDS = audits.rows_of_tenants("idempotency keys", IdempotencyRecord, judge)
