"""The request log of real web processes: a second late, and complete after an orderly stop."""

from __future__ import annotations

import pytest

from api.models import ApiRequest
from tests.api.machinery import NOTES
from tests.builders import make_key
from tests.config import wire
from tests.scenarios.product import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

REQUESTS = 20


@pytest.mark.parametrize("seconds", [1, 600], ids=["by and by", "at the stop"])
def test_every_request_is_written_down(acme, tmp_path, monkeypatch, seconds):
    monkeypatch.setenv("WIRE_REQUEST_LOG_SECONDS", str(seconds))
    key = make_key(acme)
    with wire.serving(tmp_path) as server:
        for _ in range(REQUESTS):
            server.request(f"GET {NOTES} HTTP/1.1\nConnection: close", key=key)
        if seconds > 1:
            server.end()
        wait_until(lambda: ApiRequest.objects.count() == REQUESTS, seconds=30)

    assert set(ApiRequest.objects.values_list("tenant_id", "status")) == {(acme.pk, 200)}
