"""The statement: list, filters, one line."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import quote

import pytest

from balance import services as ledger
from tests.balance.builders import fund, movement
from tests.builders import NOW, ApiClient, make_key

PATH = "/api/v1/balance/transactions"


def sequences(rows):
    """The number of each line, told by the amounts that `statement` uses."""
    return [row["amount"] for row in rows]


def listed(api, query=""):
    response = api.get(f"{PATH}{query}")
    assert response.status_code == 200, response.content
    return response.json()


def refusal(api, query):
    response = api.get(f"{PATH}{query}")
    assert response.status_code == 400
    body = response.json()
    return body["code"], body["errors"][0]["field"]


@pytest.fixture
def statement(acme):
    """Line n moves n cents, n minutes after NOW: credits, and locks at 3, 6 and 9."""
    fund(acme, 1, now=NOW + timedelta(minutes=1))
    for number in range(2, 11):
        move = ledger.lock if number % 3 == 0 else ledger.credit
        move(**movement(acme, number, now=NOW + timedelta(minutes=number)))
    return acme


class TestList:
    def test_shows_every_field_of_a_line(self, acme, acme_api):
        fund(acme, 1_000)
        posting = ledger.lock(**movement(acme, 300, source_id="pay_1", description="Rent"))

        newest = listed(acme_api)["data"][0]

        assert newest == {
            "id": posting.id,
            "type": "lock",
            "amount": 300,
            "currency": "USD",
            "availableDelta": -300,
            "lockedDelta": 300,
            "balanceAfter": {"availableBalance": 700, "lockedBalance": 300},
            "sourceType": "payment",
            "sourceId": "pay_1",
            "description": "Rent",
            "createdAt": "2026-11-20T15:00:00.000000Z",
        }

    def test_is_empty_before_the_first_movement(self, acme_api):
        assert listed(acme_api) == {"data": [], "nextCursor": None, "hasMore": False}

    def test_shows_the_newest_line_first(self, statement, acme_api):
        assert sequences(listed(acme_api)["data"]) == [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]

    def test_a_tenant_can_verify_its_whole_statement(self, statement, acme_api):
        available = locked = 0

        for row in reversed(listed(acme_api)["data"]):
            available += row["availableDelta"]
            locked += row["lockedDelta"]
            assert row["balanceAfter"] == {
                "availableBalance": available,
                "lockedBalance": locked,
            }

    def test_pages_skip_and_double_nothing_while_lines_are_added(self, statement, acme_api):
        first = listed(acme_api, "?limit=4")
        fund(statement, 11)

        second = listed(acme_api, f"?limit=4&cursor={first['nextCursor']}")
        third = listed(acme_api, f"?limit=4&cursor={second['nextCursor']}")

        pages = first["data"] + second["data"] + third["data"]
        assert sequences(pages) == [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
        assert (first["hasMore"], third["hasMore"], third["nextCursor"]) == (True, False, None)

    def test_hides_other_tenants_lines(self, rival, acme_api):
        fund(rival, 5)

        assert listed(acme_api)["data"] == []

    def test_a_cursor_of_another_tenant_is_refused(self, statement, acme_api, rival_api):
        cursor = listed(acme_api, "?limit=4")["nextCursor"]

        assert refusal(rival_api, f"?limit=4&cursor={cursor}") == ("invalid_cursor", "cursor")

    def test_a_cursor_of_other_filters_is_refused(self, statement, acme_api):
        cursor = listed(acme_api, "?limit=1&type=lock")["nextCursor"]

        assert refusal(acme_api, f"?limit=1&cursor={cursor}") == ("invalid_cursor", "cursor")

    def test_needs_a_key_and_the_scope(self, acme):
        api = ApiClient(make_key(acme, scopes=["payments:read"]))

        assert ApiClient().get(PATH).status_code == 401
        assert api.get(PATH).status_code == 403


class TestFilters:
    @pytest.mark.parametrize(
        ("query", "shown"),
        [
            ("?type=lock", [9, 6, 3]),
            ("?type=credit", [10, 8, 7, 5, 4, 2, 1]),
            ("?type=debit", []),
            ("?type=lock&type=credit", [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]),
            ("?type=lock&limit=2", [9, 6]),
            ("?type=lock&type=lock", [9, 6, 3]),
            ("?type=lock&type=credit&limit=3", [10, 9, 8]),
            ("?type=lock&type=debit", [9, 6, 3]),
            ("?createdAfter=2026-11-20T15:08:00Z", [10, 9]),
            ("?createdAfter=2026-11-20T15:07:59.999999Z", [10, 9, 8]),
            ("?createdBefore=2026-11-20T15:03:00Z", [2, 1]),
            ("?createdBefore=2026-11-20T15:03:00.000001Z", [3, 2, 1]),
            ("?createdAfter=2026-11-20T15:04:00Z&createdBefore=2026-11-20T15:07:00Z", [6, 5]),
            ("?createdAfter=2026-11-20T10:09:00-05:00", [10]),
            ("?createdAfter=2026-11-20T15:05:00Z&type=lock", [9, 6]),
            ("?createdAfter=2026-11-20T15:00:00Z&limit=1", [10]),
            ("?createdAfter=2030-01-01T00:00:00Z", []),
            ("?createdAfter=9999-12-31T23:59:59.999999Z", []),
            ("?createdBefore=2020-01-01T00:00:00Z", []),
            ("?createdAfter=2026-11-20T15:07:00Z&createdBefore=2026-11-20T15:04:00Z", []),
            ("?createdAfter=0001-01-02T00:00:00Z", [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]),
            ("?sourceId=nothing", []),
        ],
    )
    def test_narrow_the_list(self, statement, acme_api, query, shown):
        assert sequences(listed(acme_api, query)["data"]) == shown

    @pytest.mark.parametrize(
        ("path", "field", "known"),
        [
            (PATH, "type", "credit, debit, lock, unlock, settlement"),
            ("/api/v1/funding/transactions", "trigger", "topup, auto_funding, staff"),
            ("/api/v1/balance/funding-sources", "includeRemoved", "true, false"),
        ],
    )
    def test_name_what_may_be_chosen(self, acme_api, path, field, known):
        (error,) = acme_api.get(f"{path}?{field}=bonus").json()["errors"]

        assert error == {
            "field": field,
            "code": "invalid_choice",
            "message": f"Choose one of: {known}.",
        }

    def test_of_several_types_are_paged_like_one_list(self, statement, acme_api):
        query = "?type=lock&type=credit&limit=4"
        first = listed(acme_api, query)
        second = listed(acme_api, f"{query}&cursor={first['nextCursor']}")
        third = listed(acme_api, f"{query}&cursor={second['nextCursor']}")

        pages = first["data"] + second["data"] + third["data"]
        assert sequences(pages) == [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]

    def test_show_all_lines_of_one_payment(self, statement, acme_api):
        payment = movement(statement, 4)
        ledger.lock(**payment)
        ledger.settle(**payment)

        rows = listed(acme_api, f"?sourceId={payment['source_id']}")["data"]

        assert [row["type"] for row in rows] == ["settlement", "lock"]

    def test_times_work_before_the_first_movement(self, acme_api):
        query = "?createdAfter=2026-11-20T15:00:00Z&createdBefore=2026-11-21T15:00:00Z"

        assert listed(acme_api, query)["data"] == []

    @pytest.mark.parametrize(
        ("query", "code", "field"),
        [
            ("?type=refund", "invalid_request", "type"),
            ("?type=CREDIT", "invalid_request", "type"),
            ("?type=", "invalid_request", "type"),
            ("?type=credit&type=", "invalid_request", "type"),
            ("?type=credit%00", "invalid_request", "type"),
            ("?sourceId=", "invalid_request", "sourceId"),
            ("?sourceId=%00", "invalid_request", "sourceId"),
            ("?sourceId=a&sourceId=b", "invalid_request", "sourceId"),
            ("?createdAfter=yesterday", "invalid_request", "createdAfter"),
            ("?createdAfter=2026-11-20", "invalid_request", "createdAfter"),
            ("?createdAfter=2026-11-20T15:00:00", "invalid_request", "createdAfter"),
            ("?createdBefore=2026-13-01T00:00:00Z", "invalid_request", "createdBefore"),
            ("?createdBefore=9999-12-31T23:59:59-14:00", "invalid_request", "createdBefore"),
            (f"?createdBefore={quote('٢٠٢٦-11-20T15:00:00Z')}", "invalid_request", "createdBefore"),
            ("?limit=0", "invalid_request", "limit"),
            ("?limit=101", "invalid_request", "limit"),
            ("?cursor=abc", "invalid_cursor", "cursor"),
            ("?cursor=", "invalid_request", "cursor"),
            ("?created_after=2026-11-20T15:00:00Z", "unknown_parameter", "created_after"),
            ("?tenant=ten_1", "unknown_parameter", "tenant"),
        ],
    )
    def test_refuse_what_they_do_not_know(self, statement, acme_api, query, code, field):
        assert refusal(acme_api, query) == (code, field)


class TestOneLine:
    def test_is_shown(self, statement, acme_api):
        newest = listed(acme_api)["data"][0]

        response = acme_api.get(f"{PATH}/{newest['id']}")

        assert response.json() == {"data": newest}

    def test_of_another_tenant_is_not_found(self, statement, acme_api, rival_api):
        newest = listed(acme_api)["data"][0]

        response = rival_api.get(f"{PATH}/{newest['id']}")

        assert response.status_code == 404
        assert response.json()["code"] == "not_found"

    @pytest.mark.parametrize(
        "junk",
        ["btx_01kaj9s3d4m5n6p7q8r9s0t1v2", "btx_1", "abc", "a%00b", "%ff", "9" * 400, "1 OR 1=1"],
    )
    def test_any_other_id_is_not_found(self, acme_api, junk):
        assert acme_api.get(f"{PATH}/{junk}").status_code == 404
