"""What the pages of events and deliveries are called, whatever a stored body holds."""

from __future__ import annotations

import pytest

from dashboard.chain import titles
from dashboard.developers.webhooks.sentences import sentences
from tests.builders import NOW
from webhooks.models import WebhookEvent

ODD = [b'{"data":null}', b'{"data":["pay_1"]}', b'{"data":{"paymentId":["pay_1"]}}', b"{}", b"[]"]


@pytest.mark.parametrize("body", ODD, ids=range(len(ODD)))
def test_an_event_with_an_odd_body_has_a_title_and_a_sentence(body):
    row = WebhookEvent(
        pk="evt_1", type="payment.completed", tenant_id="ten_1", body=body, created_at=NOW
    )

    assert titles.of_event(row, now=NOW).startswith("payment.completed · ")
    assert titles.of_delivery(row, "https://hooks.acme.example/in", now=NOW).startswith(
        "payment.completed to hooks.acme.example · "
    )
    assert sentences([row], tenant_id="ten_1") == {"evt_1": "The money has arrived"}
