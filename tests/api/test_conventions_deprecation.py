"""Operations that will go say so in every answer, a year ahead (RFC 9745 and RFC 8594)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from drf_spectacular.generators import SchemaGenerator

from api.deprecation import Deprecation
from tests.api import machinery
from tests.api.machinery import NOTES
from tests.builders import ApiClient

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("machinery")]

ANNOUNCED = {
    "Deprecation": "@1795132800",
    "Sunset": "Sat, 20 Nov 2027 00:00:00 GMT",
    "Link": '<http://localhost:8000/docs/api#notes>; rel="deprecation"; type="text/html"',
}


def announced(response):
    return {name: response[name] for name in ANNOUNCED if name in response}


@pytest.mark.parametrize("query", ["", "?limit=0"])
def test_a_deprecated_operation_says_so_in_answers_and_errors(acme_api, query):
    assert announced(acme_api.get(f"{NOTES}-plain{query}")) == ANNOUNCED


def test_says_so_without_a_key(db):
    response = ApiClient().get(f"{NOTES}-plain")

    assert (response.status_code, announced(response)) == (401, ANNOUNCED)


def test_other_operations_say_nothing(acme_api):
    assert announced(acme_api.get(NOTES)) == {}


def test_the_document_marks_it_and_names_the_headers(db):
    document = SchemaGenerator(urlconf=machinery).get_schema(request=None, public=True)

    plain, usual = (document["paths"][path]["get"] for path in (f"{NOTES}-plain", NOTES))
    assert plain["deprecated"] is True
    assert {"Deprecation", "Sunset"} <= plain["responses"]["200"]["headers"].keys()
    assert "deprecated" not in usual
    assert "Sunset" not in usual["responses"]["200"]["headers"]


def test_less_than_a_year_is_no_notice():
    since = datetime(2026, 11, 20, tzinfo=UTC)

    with pytest.raises(ValueError, match="365 days"):
        Deprecation(since=since, sunset=since + timedelta(days=364), guide="/docs/api")
