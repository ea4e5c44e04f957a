"""GET /api/v1/funding/transactions, detail and cancel."""

from __future__ import annotations

import csv
from datetime import timedelta

import pytest

from balance import selectors as ledger
from funding.models import FundingMethod, FundingTransaction
from funding.transfer import FUNDING
from tests.builders import NOW, make_source
from tests.funding.builders import run_due, top_up
from transfers import submission

PATH = "/api/v1/funding/transactions"


def ids(response):
    return [row["id"] for row in response.json()["data"]]


class TestList:
    def test_newest_first(self, acme, acme_api):
        source = make_source(acme)
        made = [top_up(acme, source=source, now=NOW + timedelta(hours=n)) for n in range(3)]

        response = acme_api.get(PATH)

        assert response.status_code == 200
        assert ids(response) == [made[2].pk, made[1].pk, made[0].pk]
        assert response.json()["nextCursor"] is None
        assert response.json()["hasMore"] is False

    def test_pages_neither_skip_nor_repeat_rows_of_the_same_microsecond(self, acme, acme_api):
        source = make_source(acme)
        made = {top_up(acme, source=source).pk for _ in range(7)}

        seen, parameters = [], {"limit": "2"}
        while True:
            page = acme_api.get(PATH, parameters)
            seen += ids(page)
            if not page.json()["hasMore"]:
                break
            parameters["cursor"] = page.json()["nextCursor"]

        assert len(seen) == 7
        assert set(seen) == made

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ({"status": "completed"}, ["ach"]),
            ({"status": ["completed", "failed"]}, ["rtp", "ach"]),
            ({"fundingMethod": "rtp"}, ["rtp"]),
            ({"trigger": "topup"}, ["new", "rtp", "ach"]),
            ({"trigger": "auto_funding"}, []),
            ({"returned": "false"}, ["new", "rtp", "ach"]),
            ({"returned": "true"}, []),
            ({"minAmount": "200"}, ["new", "rtp"]),
            ({"maxAmount": "200"}, ["rtp", "ach"]),
            ({"createdAfter": "2026-11-20T15:00:00Z"}, ["new", "rtp"]),
            ({"createdBefore": "2026-11-20T16:00:00Z"}, ["ach"]),
        ],
    )
    def test_filters(self, acme, acme_api, query, expected):
        rejecting = make_source(acme, account_number="40003")
        hour = timedelta(hours=1)
        names = {
            top_up(acme, amount=100, source=rejecting).pk: "ach",
            top_up(
                acme, amount=200, source=rejecting, method=FundingMethod.RTP, now=NOW + hour
            ).pk: "rtp",
        }
        run_due(now=NOW + hour)
        names[top_up(acme, amount=300, source=make_source(acme), now=NOW + 2 * hour).pk] = "new"

        response = acme_api.get(PATH, query)

        assert [names[id] for id in ids(response)] == expected

    @pytest.mark.parametrize(
        "query",
        ["status=paid", "limit=0", "limit=101", "cursor=abc", "minAmount=1e3", "minAmount=-1",
         "status=", "returned=1", "createdAfter=yesterday", "search=x", "fundingMethod=wire",
         "trigger=topup&trigger=staff", "minAmount=%D9%A1", "fundingSourceId=a%00b"],
    )  # fmt: skip
    def test_refuses_what_it_does_not_understand(self, acme_api, query):
        response = acme_api.get(f"{PATH}?{query}")

        assert response.status_code == 400
        assert response["Content-Type"] == "application/problem+json"

    def test_hides_other_tenants(self, acme, acme_api, rival):
        top_up(rival)

        assert ids(acme_api.get(PATH)) == []


class TestDetail:
    @pytest.mark.parametrize("name", ["abc", "ftx_1", "ftx_00000000000000000000000000", "a%00b"])
    def test_unknown_ids_are_404(self, acme_api, name):
        response = acme_api.get(f"{PATH}/{name}")

        assert (response.status_code, response.json()["code"]) == (404, "not_found")

    def test_hides_other_tenants(self, acme_api, rival):
        assert acme_api.get(f"{PATH}/{top_up(rival).pk}").status_code == 404


class TestCancel:
    def test_gives_up_what_no_network_has_seen(self, acme, acme_api):
        funding = top_up(acme)

        response = acme_api.post_json(f"{PATH}/{funding.pk}/cancel")

        assert response.status_code == 200
        found = response.json()["data"]
        assert (found["status"], found["failureCode"]) == ("failed", "canceled")
        assert ledger.summary(acme.pk).pending == 0
        assert submission.submit_due(FUNDING, now=NOW) == 0

    def test_is_too_late_once_submission_was_tried(self, acme, acme_api):
        funding = top_up(acme, source=make_source(acme, account_number="30002"))
        submission.submit_due(FUNDING, now=NOW)

        response = acme_api.post_json(f"{PATH}/{funding.pk}/cancel")

        assert (response.status_code, response.json()["code"]) == (409, "not_cancelable")
        assert FundingTransaction.objects.get().status == "reserved"

    def test_twice_says_so(self, acme, acme_api):
        path = f"{PATH}/{top_up(acme).pk}/cancel"
        acme_api.post_json(path)

        response = acme_api.post_json(path)

        assert (response.status_code, response.json()["code"]) == (409, "not_cancelable")
        assert ledger.summary(acme.pk).pending == 0

    def test_hides_other_tenants(self, acme_api, rival):
        funding = top_up(rival)

        assert acme_api.post_json(f"{PATH}/{funding.pk}/cancel").status_code == 404
        assert FundingTransaction.objects.get().status == "reserved"


class TestDownload:
    def test_writes_every_row_as_csv_and_defuses_formulas(self, acme, acme_api):
        source = make_source(acme)
        first = top_up(acme, source=source, amount=100)
        second = top_up(acme, source=source, amount=200, now=NOW + timedelta(seconds=1))
        FundingTransaction.objects.filter(pk=first.pk).update(description="=1+1")

        response = acme_api.get(f"{PATH}.csv")

        lines = list(csv.DictReader(response.getvalue().decode().splitlines()))
        assert [line["id"] for line in lines] == [second.pk, first.pk]
        assert (lines[1]["amount"], lines[1]["description"]) == ("100", "'=1+1")

    def test_takes_the_same_filters_but_no_page(self, acme, acme_api):
        top_up(acme)

        assert acme_api.get(f"{PATH}.csv?status=failed").getvalue().count(b"\n") == 1
        assert acme_api.get(f"{PATH}.csv?limit=5").status_code == 400
