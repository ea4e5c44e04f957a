"""Test calls to several endpoints of one tenant at one moment."""

from __future__ import annotations

import pytest

from common.clock import utc_now
from tests.builders import make_endpoint, make_tenant
from tests.races.together import together
from tests.receivers import ALLOWED, Receiver
from webhooks.errors import WebhookTestRunning
from webhooks.models import WebhookEndpoint
from webhooks.services import pings

pytestmark = pytest.mark.django_db(transaction=True)

WORKERS = 6


def test_one_runs_at_a_time_and_leaves_no_mark(settings):
    settings.WEBHOOK_ALLOWED_NETWORKS = ALLOWED
    settings.WEBHOOK_ALLOW_HTTP = True
    tenant = make_tenant()
    with Receiver() as receiver:
        endpoints = [make_endpoint(tenant, url=receiver.url("/slow/1")) for _ in range(WORKERS)]

        answers = together(
            lambda worker: pings.ping(
                tenant_id=tenant.pk, endpoint_id=endpoints[worker].pk, mode="sandbox", now=utc_now()
            ),
            workers=WORKERS,
        )

    refused = [answer for answer in answers if isinstance(answer, WebhookTestRunning)]
    assert len(refused) == WORKERS - 1
    assert len(receiver.requests) == 1
    assert not WebhookEndpoint.objects.exclude(testing_until=None).exists()
