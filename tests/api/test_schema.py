"""`/api/schema`: openapi.yaml as it is, sent once to whoever keeps it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import yaml
from django.test import Client

FILE = Path(__file__).parents[2] / "openapi.yaml"


@pytest.fixture
def anybody():
    return Client(headers={"host": "localhost"})


def test_is_the_file_byte_by_byte(anybody):
    answer = anybody.get("/api/schema")

    assert answer.content == FILE.read_bytes()
    assert answer["Content-Type"] == "application/vnd.oai.openapi; charset=utf-8"
    assert answer["Content-Disposition"] == 'inline; filename="openapi.yaml"'


@pytest.mark.parametrize("accept", ["application/json", "text/html", "application/yaml", "*/*"])
def test_is_yaml_whatever_is_asked_for(anybody, accept):
    answer = anybody.get("/api/schema", headers={"accept": accept})

    assert yaml.load(answer.content, yaml.CSafeLoader)["openapi"] == "3.1.0"


def test_is_compressed_for_who_takes_it(anybody):
    answer = anybody.get("/api/schema", headers={"accept-encoding": "gzip"})

    assert answer["Content-Encoding"] == "gzip"
    assert answer["Vary"] == "Accept-Encoding"
    assert gzip.decompress(answer.content) == FILE.read_bytes()
    assert len(answer.content) < len(FILE.read_bytes()) / 10


def test_is_not_sent_again_to_who_has_it(anybody):
    etag = anybody.get("/api/schema")["ETag"]

    again = anybody.get("/api/schema", headers={"if-none-match": etag})
    other = anybody.get("/api/schema", headers={"if-none-match": '"of-another-release"'})

    assert (again.status_code, again.content) == (304, b"")
    assert again["ETag"] == etag
    assert (other.status_code, len(other.content)) == (200, len(FILE.read_bytes()))


def test_is_only_read(anybody):
    refused = anybody.post("/api/schema")

    assert (refused.status_code, refused.json()["code"]) == (405, "method_not_allowed")
    assert refused["Allow"] == "GET, HEAD"
    assert anybody.head("/api/schema").content == b""


def test_costs_no_query(anybody, db, django_assert_num_queries):
    with django_assert_num_queries(0):
        anybody.get("/api/schema")
