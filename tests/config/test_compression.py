from __future__ import annotations

import gzip

import pytest

from tests.builders import ApiClient, make_key

pytestmark = pytest.mark.django_db


def test_pages_are_compressed_for_who_can_read_that(client):
    response = client.get("/docs/errors", headers={"Accept-Encoding": "gzip"})

    assert response["Content-Encoding"] == "gzip"
    assert response["Vary"] == "Accept-Encoding"
    assert b"invalid_request" in gzip.decompress(response.content)


def test_pages_are_plain_for_others(client):
    response = client.get("/docs/errors")

    assert "Content-Encoding" not in response
    assert b"invalid_request" in response.content


def test_the_api_is_left_alone(acme):
    api = ApiClient(make_key(acme))

    response = api.get("/api/v1/balance/transactions", headers={"Accept-Encoding": "gzip"})

    assert "Content-Encoding" not in response
