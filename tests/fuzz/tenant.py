"""A tenant that has one of everything, for tests that try every endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from balance.models import BalanceTransaction
from common.clock import utc_now
from payments.services import recipients
from tenants.actors import SYSTEM
from tenants.models import Tenant
from tests.builders import (
    make_auto_funding,
    make_endpoint,
    make_key,
    make_linked_source,
    make_source,
    make_tenant,
)
from tests.funding.builders import run_due, top_up
from tests.payments.builders import account, fund, pay
from tests.solvency.builders import RAIL, prove
from webhooks.models import WebhookDelivery, WebhookEvent

MUCH = 50_000_000_00


@dataclass(frozen=True)
class Stocked:
    """The tenant, a key that may do everything, and an id for every path parameter.

    `spare_` ones are there to be removed.
    """

    tenant: Tenant
    key: str
    ids: dict[str, str]


def stock(tenant: Tenant | None = None, *, rails: Sequence[str] = (RAIL,)) -> Stocked:
    """Make it. The receiver of its webhook listens nowhere, so sending to it fails at once."""
    tenant = tenant or make_tenant()
    now = utc_now()
    endpoint = make_endpoint(tenant, url="http://127.0.0.1:9/hooks")
    source = make_source(tenant, now=now)
    spare_source = make_linked_source(tenant)
    spare_endpoint = make_endpoint(tenant, url="http://127.0.0.1:9/spare")
    make_auto_funding(tenant, enabled=False)
    fund(tenant, MUCH, now=now)
    for _ in range(3):
        top_up(tenant, source=source, now=now)
        pay(tenant, now=now)
    run_due(now=now)
    funding = top_up(tenant, source=source, now=now)
    payment = pay(tenant, now=now)
    recipient, spare_recipient = (
        recipients.save(tenant_id=tenant.pk, details=account(number), actor=SYSTEM, now=now)
        for number in ("000987654321", "000987654322")
    )
    prove(tenant, rails=rails)
    return Stocked(
        tenant=tenant,
        key=make_key(tenant),
        ids={
            "source_id": source.pk,
            "funding_id": funding.pk,
            "payment_id": payment.pk,
            "recipient_id": recipient.pk,
            "endpoint_id": endpoint.pk,
            "transaction_id": BalanceTransaction.objects.filter(tenant=tenant).latest("pk").pk,
            "event_id": WebhookEvent.objects.filter(tenant=tenant).latest("pk").pk,
            "delivery_id": WebhookDelivery.objects.filter(tenant=tenant).latest("pk").pk,
            "day": prove(tenant, rails=rails).day.isoformat(),
            "spare_source_id": spare_source.pk,
            "spare_recipient_id": spare_recipient.pk,
            "spare_endpoint_id": spare_endpoint.pk,
        },
    )
