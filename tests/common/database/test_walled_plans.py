"""What the API and the ledger's functions read under the API's role, beside rows of many other
tenants: an index finds the tenant's, and the wall throws nothing away."""

from __future__ import annotations

import re

import pytest
from django.db import connection

from balance import services as ledger
from common.database import doors
from tests.api.test_every_key import ALL, filled, send
from tests.builders import NOW
from tests.common.database import crowd
from tests.common.database.plans import Plans, inside_functions
from tests.database import owner
from tests.fuzz.tenant import stock
from tests.payments.builders import fund
from webhooks.models import WebhookEvent

pytestmark = pytest.mark.django_db

NOTHING_TO_CONFIRM = (
    "/api/v1/sandbox/confirmations/{funding_id}",
    "/api/v1/sandbox/payments/{payment_id}/confirmation",
)


def test_reads_the_tenants_rows_by_index(acme, rival, settings):
    settings.WEBHOOK_ALLOW_HTTP = True
    made = stock(acme)
    stock(rival)
    crowd.around(acme, like=rival)
    with Plans.noted() as plans:
        answers = {
            path: send(made.key, method, filled(path, made.ids), query=_query(path, made.ids))[0]
            for path, method, _ in ALL
            if method == "get"
        }

    refused = {path: status for path, status in answers.items() if status != 200}
    assert refused == dict.fromkeys(NOTHING_TO_CONFIRM, 404)
    assert plans.looked_at > len(answers)
    assert plans.foreign(crowd.LONG) == {}
    assert _foreign_without_index(acme) == {"webhooks_webhookevent"}


def test_a_posting_reads_the_tenants_rows_by_index(acme, rival):
    for tenant in (acme, rival):
        fund(tenant, 1_000)
    crowd.around(acme, like=rival)
    with inside_functions() as plans, doors.of_tenant(acme.pk, only_reads=False):
        for number in (1, 1, 2):  # the second is a repeat
            ledger.credit(
                tenant_id=acme.pk, amount=5, source_type="funding_transaction",
                source_id=f"ftx_{number}", description="x", now=NOW,
            )  # fmt: skip

    read = {each.what for reads in plans.read.values() for each in reads}
    assert {"balance", "balance_transaction"} <= {re.sub(r"_\d\d$", "", name) for name in read}
    assert plans.foreign({*crowd.LONG, "balance"}) == {}


def _query(path, ids):
    """What the operation cannot do without."""
    return f"paymentId={ids['funding_id']}" if path == "/api/v1/events" else ""


def _foreign_without_index(tenant):
    """What the same way of looking finds where the index that starts with the tenant is gone."""
    with owner.as_owner(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("DROP INDEX event_by_tenant")
    with doors.of_tenant(tenant.pk, only_reads=True), Plans.noted() as plans:
        assert list(WebhookEvent.objects.order_by("-created_at", "-id")[:5])
    return {read.what for reads in plans.foreign(crowd.LONG).values() for read in reads}
