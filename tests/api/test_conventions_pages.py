"""Lists: keyset pages whose signed cursors belong to one tenant, path, filter and order."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from itertools import chain
from urllib.parse import quote

import pytest
from django.core import signing
from hypothesis import given
from hypothesis import strategies as st

from api import pagination
from api.errors import InvalidCursor
from tenants.models import ActorType, AuditEvent
from tests.api.machinery import NOTES
from tests.api.test_conventions_errors import problem

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("machinery")]

START = datetime(2026, 11, 20, 15, 0, tzinfo=UTC)


def make_notes(tenant, count, *, start=START, step=timedelta(seconds=1), action="a"):
    return AuditEvent.objects.bulk_create(
        AuditEvent(
            tenant=tenant,
            actor_type=ActorType.SYSTEM,
            action=action,
            subject_id="list",
            created_at=start + step * number,
        )
        for number in range(count)
    )


def newest_first(notes):
    ordered = sorted(notes, key=lambda note: (note.created_at, note.pk), reverse=True)
    return [note.pk for note in ordered]


def walk(api, *, limit, path=NOTES, extra="", between=lambda: None):
    """The ids of every page, one list per page."""
    pages, cursor = [], ""
    while True:
        page = api.get(f"{path}?limit={limit}{extra}{cursor}").json()
        pages.append([row["id"] for row in page["data"]])
        assert page["hasMore"] is (page["nextCursor"] is not None)
        if page["nextCursor"] is None:
            return pages
        cursor = f"&cursor={page['nextCursor']}"
        between()


def first_cursor(api, path=NOTES, query="limit=2"):
    return api.get(f"{path}?{query}").json()["nextCursor"]


class TestWalking:
    def test_an_empty_list(self, acme_api):
        assert acme_api.get(NOTES).json() == {"data": [], "nextCursor": None, "hasMore": False}

    @pytest.mark.parametrize("path", [NOTES, f"{NOTES}-plain", f"{NOTES}-by-id"])
    @pytest.mark.parametrize("step", [timedelta(0), timedelta(microseconds=1), timedelta(days=1)])
    def test_meets_every_row_once_newest_first(self, acme, acme_api, path, step):
        notes = make_notes(acme, 7, step=step)

        pages = walk(acme_api, limit=3, path=path)

        assert [len(page) for page in pages] == [3, 3, 1]
        assert list(chain(*pages)) == newest_first(notes)

    def test_a_full_last_page_has_no_next(self, acme, acme_api):
        make_notes(acme, 6)

        assert [len(page) for page in walk(acme_api, limit=3)] == [3, 3]

    def test_skips_and_doubles_nothing_while_rows_are_added(self, acme, acme_api):
        notes = make_notes(acme, 7)

        later = START + timedelta(days=1)
        pages = walk(acme_api, limit=2, between=lambda: make_notes(acme, 3, start=later))

        assert list(chain(*pages)) == newest_first(notes)

    def test_shows_50_unless_asked(self, acme, acme_api):
        make_notes(acme, 101)

        assert len(acme_api.get(NOTES).json()["data"]) == 50
        assert len(acme_api.get(f"{NOTES}?limit=100").json()["data"]) == 100
        assert len(acme_api.get(f"{NOTES}?limit=1").json()["data"]) == 1

    def test_shows_no_row_of_another_tenant(self, acme, rival, rival_api):
        make_notes(acme, 3)
        theirs = make_notes(rival, 3)

        assert list(chain(*walk(rival_api, limit=2))) == newest_first(theirs)

    def test_costs_two_queries(self, acme, acme_api, django_assert_num_queries):
        make_notes(acme, 9)
        cursor = first_cursor(acme_api)

        with django_assert_num_queries(2):  # the key, the page
            acme_api.get(f"{NOTES}?limit=2&cursor={cursor}")

    def test_by_one_key_alone(self, acme, acme_api):
        notes = make_notes(acme, 5)
        first = acme_api.get(f"{NOTES}-by-id?limit=3", headers={"X-Keys": "one"}).json()
        rest = acme_api.get(
            f"{NOTES}-by-id?limit=3&cursor={first['nextCursor']}", headers={"X-Keys": "one"}
        ).json()

        ids = [row["id"] for row in first["data"] + rest["data"]]
        assert ids == sorted((note.pk for note in notes), reverse=True)


class TestLimit:
    @pytest.mark.parametrize("path", [NOTES, f"{NOTES}-plain"])
    def test_outside_1_to_100_is_refused_never_clamped(self, acme_api, path):
        for limit in (
            "0", "-1", "101", "1000000", "abc", "", "1_0", "+1", "1.0", "1e1", "%D9%A1%D9%A0",
            "%EF%BC%91", "%C2%B2", "1%00", "1%0A", "9" * 400,
        ):  # fmt: skip
            body = problem(acme_api.get(f"{path}?limit={limit}"), 400, "invalid_request")

            assert [error["field"] for error in body["errors"]] == ["limit"], limit

    @pytest.mark.parametrize("path", [NOTES, f"{NOTES}-plain"])
    @pytest.mark.parametrize("query", ["limit=1&limit=2", "cursor=a&cursor=b"])
    def test_given_twice_is_refused(self, acme_api, path, query):
        problem(acme_api.get(f"{path}?{query}"), 400, "invalid_request")


class TestUnknownParameter:
    @pytest.mark.parametrize("path", [NOTES, f"{NOTES}-plain"])
    @pytest.mark.parametrize("query", ["page=2", "ordering=-id", "format=csv", "Action=a", "x="])
    def test_is_refused_on_lists_with_and_without_filters(self, acme_api, path, query):
        body = problem(acme_api.get(f"{path}?{query}"), 400, "unknown_parameter")

        assert [error["field"] for error in body["errors"]] == [query.partition("=")[0]]

    def test_is_told_what_there_is(self, acme_api):
        body = problem(acme_api.get(f"{NOTES}-plain?page=2"), 400, "unknown_parameter")

        assert body["errors"][0]["message"] == "Not a parameter here. Parameters: cursor, limit."


class TestFilter:
    def test_narrows_the_list(self, acme, acme_api):
        make_notes(acme, 2, action="a")
        wanted = make_notes(acme, 3, action="b")

        assert list(chain(*walk(acme_api, limit=2, extra="&action=b"))) == newest_first(wanted)

    def test_may_repeat_where_it_is_a_choice_of_several(self, acme, acme_api):
        make_notes(acme, 2, action="a")
        make_notes(acme, 3, action="b")

        assert len(list(chain(*walk(acme_api, limit=2, extra="&action=a&action=b")))) == 5

    @pytest.mark.parametrize(
        ("query", "field"),
        [
            ("action=c", "action"),
            ("action=A", "action"),
            ("action=", "action"),
            ("action=a%00", "action"),
            ("action=a'--", "action"),
            ("subjectId=", "subjectId"),
            ("subjectId=a&subjectId=b", "subjectId"),
            ("subjectId=a%00", "subjectId"),
            ("createdAfter=yesterday", "createdAfter"),
            ("createdAfter=2026-02-30T00:00:00Z", "createdAfter"),
            ("createdAfter=99999999999-01-01", "createdAfter"),
        ],
    )
    def test_with_an_odd_value_is_refused(self, acme_api, query, field):
        body = problem(acme_api.get(f"{NOTES}?{query}"), 400, "invalid_request")

        assert [error["field"] for error in body["errors"]] == [field]


class TestCursor:
    def test_of_another_tenant_is_refused(self, acme, rival, acme_api, rival_api):
        make_notes(acme, 3)
        make_notes(rival, 3)

        response = acme_api.get(f"{NOTES}?limit=2&cursor={first_cursor(rival_api)}")

        problem(response, 400, "invalid_cursor")

    @pytest.mark.parametrize("query", ["action=b", "action=a&action=b", "subjectId=list", ""])
    def test_of_another_filter_is_refused(self, acme, acme_api, query):
        make_notes(acme, 3)
        cursor = first_cursor(acme_api, query="limit=2&action=a")

        problem(acme_api.get(f"{NOTES}?{query}&cursor={cursor}"), 400, "invalid_cursor")

    def test_of_another_path_is_refused(self, acme, acme_api):
        make_notes(acme, 3)

        response = acme_api.get(f"{NOTES}-plain?cursor={first_cursor(acme_api)}")

        problem(response, 400, "invalid_cursor")

    def test_of_another_order_is_refused(self, acme, acme_api):
        make_notes(acme, 3)
        cursor = first_cursor(acme_api, path=f"{NOTES}-by-id")

        response = acme_api.get(f"{NOTES}-by-id?cursor={cursor}", headers={"X-Keys": "one"})

        problem(response, 400, "invalid_cursor")

    def test_serves_another_page_size(self, acme, acme_api):
        notes = make_notes(acme, 5)
        cursor = first_cursor(acme_api)

        rest = acme_api.get(f"{NOTES}?limit=100&cursor={cursor}").json()["data"]

        assert [row["id"] for row in rest] == newest_first(notes)[2:]

    def test_changed_in_any_place_is_refused(self, acme, acme_api):
        make_notes(acme, 3)
        cursor = first_cursor(acme_api)

        for place in range(len(cursor)):
            changed = cursor[:place] + ("A" if cursor[place] != "A" else "B") + cursor[place + 1 :]
            if _same_signature(cursor, changed, place):
                continue
            problem(acme_api.get(f"{NOTES}?cursor={quote(changed)}"), 400, "invalid_cursor")

    @pytest.mark.parametrize("path", [NOTES, f"{NOTES}-plain"])
    def test_that_we_never_gave_is_refused(self, acme_api, path):
        for cursor in (
            "", "abc", "%FF%FE", "eyJpZCI6MH0=", "0", "null", "a:b:c", "%00", "%F0%9F%91%8D",
            "A" * 3000, "gASVBAAAAAAAAABLAS4=", "..", ":", "::",
        ):  # fmt: skip
            response = acme_api.get(f"{path}?cursor={cursor}")

            assert response.status_code == 400, cursor
            assert response.json()["code"] in {"invalid_cursor", "invalid_request"}, cursor

    def test_signed_for_another_purpose_is_refused(self, acme_api):
        foreign = signing.dumps(["binding", [{"at": "2026-01-01T00:00:00"}, "x"]], salt="other")

        problem(acme_api.get(f"{NOTES}?cursor={foreign}"), 400, "invalid_cursor")

    def test_survives_a_rotation_of_the_signing_key(self, acme, acme_api, settings):
        make_notes(acme, 3)
        cursor = first_cursor(acme_api)
        settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
        settings.SECRET_KEY = "the next one" * 5

        assert acme_api.get(f"{NOTES}?cursor={cursor}").status_code == 200

    @given(st.text(max_size=200) | st.binary(max_size=80).map(base64.urlsafe_b64encode))
    def test_made_of_anything_is_refused_cleanly(self, text):
        with pytest.raises(InvalidCursor):
            pagination._open(text if isinstance(text, str) else text.decode(), "binding")

    @given(st.datetimes(timezones=st.just(UTC)), st.text(max_size=30))
    def test_brings_the_position_back_exactly(self, moment, ident):
        row = {"created_at": moment, "pk": ident}

        cursor = pagination._signed(row, ("created_at", "pk"), "binding")

        assert pagination._open(cursor, "binding") == [moment, ident]


def _same_signature(cursor: str, changed: str, place: int) -> bool:
    """The last character of unpadded base64 has bits that mean nothing."""
    if place != len(cursor) - 1:
        return False
    ends = [base64.urlsafe_b64decode(text.rsplit(":", 1)[1] + "=") for text in (cursor, changed)]
    return ends[0] == ends[1]
