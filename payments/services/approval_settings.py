"""The tenant's own limit above which a second person approves payments."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from common import clock
from common.errors import InvalidInput
from common.money import AMOUNT_MAX, format_cents
from payments.models import PaymentSettings
from tenants import selectors as tenants
from tenants.actors import Actor
from tenants.models import ActorType, Role, Tenant
from tenants.services import audit, emails

MAIL = "safeguard_changed"


@transaction.atomic
def set_threshold(
    *, tenant_id: str, threshold: int | None, actor: Actor, now: datetime
) -> PaymentSettings:
    """Payments above `threshold` cents need a second person from now on; None: none does.

    Those who approve are told when it protects less than before. Raises InvalidInput.
    """
    if threshold is not None and not 0 <= threshold <= AMOUNT_MAX:
        raise InvalidInput("Not an amount.", field="approvalThreshold")
    tenant = Tenant.objects.select_for_update(no_key=True).get(pk=tenant_id)
    row = PaymentSettings.objects.filter(tenant=tenant).first() or PaymentSettings(tenant=tenant)
    before = row.approval_threshold
    row.approval_threshold, row.updated_at = threshold, now
    row.save()
    if before == threshold:
        return row
    audit.record(
        tenant_id=tenant_id,
        actor=actor,
        action="payments.approval_threshold_changed",
        subject_id=tenant_id,
        details={"from": before, "to": threshold},
        now=now,
    )
    if before is not None and (threshold is None or threshold > before):
        _warn(tenant, before, threshold, actor, now)
    return row


def _warn(tenant: Tenant, before: int, after: int | None, actor: Actor, now: datetime) -> None:
    change = {
        "what": "Payments need a second person above",
        "before": format_cents(before),
        "after": "never" if after is None else format_cents(after),
    }
    roles = (Role.OWNER, Role.APPROVER)
    for address in tenants.member_emails(tenant_id=tenant.pk, roles=roles):
        emails.queue(
            tenant_id=tenant.pk,
            to=address,
            template=MAIL,
            context={
                "tenant_name": tenant.name,
                "changed_by": _name_of(actor),
                "changed_at": clock.text_of(now),
                "changes": [change],
                "approver_email": address,
            },
            now=now,
        )


def _name_of(actor: Actor) -> str:
    if actor.type == ActorType.STAFF:
        return "Support"
    return tenants.people_and_keys([actor.id]).get(actor.id, actor.id)
