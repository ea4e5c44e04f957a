"""Payments that were made: listed, one of them, canceled, as CSV, in the limits."""

from __future__ import annotations

from datetime import timedelta

import pytest

from common.clock import utc_now
from payments import caps
from payments.caps import Cap, CapScope, Window
from payments.models import Payment, PaymentMethod
from payments.services import approval_settings, limit_settings
from payments.transfer import PAYMENTS
from tenants.actors import SYSTEM
from tests.builders import NOW
from tests.payments.builders import account, fund, funds_of, pay, run_due
from transfers import submission

PATH = "/api/v1/payments"
RECIPIENT = {
    "accountNumber": "000123456789",
    "routingNumber": "021000021",
    "accountHolderName": "Supplier LLC",
    "accountHolderType": "business",
    "accountType": "checking",
}


@pytest.fixture
def funded(acme):
    fund(acme, 50_000)
    return acme


def ids(response):
    return [row["id"] for row in response.json()["data"]]


class TestList:
    def test_newest_first(self, funded, acme_api):
        made = [pay(funded, 100, now=NOW + timedelta(hours=n)) for n in range(3)]

        response = acme_api.get(PATH)

        assert ids(response) == [made[2].pk, made[1].pk, made[0].pk]
        assert (response.json()["nextCursor"], response.json()["hasMore"]) == (None, False)

    def test_pages_neither_skip_nor_repeat_rows_of_the_same_microsecond(self, funded, acme_api):
        made = {pay(funded, 100).pk for _ in range(7)}

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
            ({"status": "returned"}, ["back"]),
            ({"status": ["returned", "failed"]}, ["bad", "back"]),
            ({"method": "rtp"}, ["bad"]),
            ({"returned": "true"}, ["back"]),
            ({"returned": "false"}, ["new", "bad"]),
            ({"minAmount": "200"}, ["new", "bad"]),
            ({"maxAmount": "200"}, ["bad", "back"]),
            ({"createdAfter": "2026-11-20T15:00:00Z"}, ["new", "bad"]),
            ({"createdBefore": "2026-11-20T16:00:00Z"}, ["back"]),
            ({"recipientId": "rcp_00000000000000000000000000"}, []),
        ],
    )
    def test_filters(self, funded, acme_api, query, expected):
        hour = timedelta(hours=1)
        rtp = PaymentMethod.RTP
        names = {
            pay(funded, 100, to="20002").pk: "back",
            pay(funded, 200, to="40003", method=rtp, now=NOW + hour).pk: "bad",
        }
        run_due(now=NOW + hour)
        names[pay(funded, 300, now=NOW + 2 * hour).pk] = "new"

        response = acme_api.get(PATH, query)

        assert [names[id] for id in ids(response)] == expected

    @pytest.mark.parametrize(
        "query",
        ["status=paid", "limit=0", "limit=101", "cursor=abc", "minAmount=1e3", "status=",
         "returned=1", "createdAfter=yesterday", "search=x", "method=ach_debit",
         "method=rtp&method=rtp", "recipientId=a%00b"],
    )  # fmt: skip
    def test_refuses_what_it_does_not_understand(self, acme_api, query):
        response = acme_api.get(f"{PATH}?{query}")

        assert response.status_code == 400
        assert response["Content-Type"] == "application/problem+json"

    def test_hides_other_tenants(self, acme_api, rival):
        fund(rival, 10_000)
        pay(rival)

        assert ids(acme_api.get(PATH)) == []


class TestDetail:
    @pytest.mark.parametrize("name", ["abc", "pay_1", "pay_00000000000000000000000000", "a%00b"])
    def test_unknown_ids_are_404(self, acme_api, name):
        response = acme_api.get(f"{PATH}/{name}")

        assert (response.status_code, response.json()["code"]) == (404, "not_found")

    def test_hides_other_tenants(self, acme_api, rival):
        fund(rival, 10_000)

        assert acme_api.get(f"{PATH}/{pay(rival).pk}").status_code == 404


class TestCancel:
    def test_gives_the_money_back(self, funded, acme_api):
        payment = pay(funded, 20_000)

        response = acme_api.post_json(f"{PATH}/{payment.pk}/cancel")

        assert response.status_code == 200
        found = response.json()["data"]
        assert (found["status"], found["failureCode"]) == ("canceled", "canceled")
        assert found == acme_api.get(f"{PATH}/{payment.pk}").json()["data"]
        assert len(found["balanceTransactionIds"]) == 2
        assert funds_of(funded) == (50_000, 0)
        assert submission.submit_due(PAYMENTS, now=NOW) == 0

    def test_a_waiting_one_had_locked_nothing(self, acme, acme_api):
        payment = pay(acme, 20_000, wait=True)

        found = acme_api.post_json(f"{PATH}/{payment.pk}/cancel").json()["data"]

        assert (found["status"], found["balanceTransactionIds"]) == ("canceled", [])
        assert funds_of(acme) == (0, 0)

    def test_is_too_late_once_submission_was_tried(self, funded, acme_api):
        payment = pay(funded, to="30002")
        submission.submit_due(PAYMENTS, now=NOW)

        response = acme_api.post_json(f"{PATH}/{payment.pk}/cancel")

        assert (response.status_code, response.json()["code"]) == (409, "not_cancelable")
        assert Payment.objects.get().status == "created"

    def test_twice_says_so(self, funded, acme_api):
        path = f"{PATH}/{pay(funded).pk}/cancel"
        acme_api.post_json(path)

        response = acme_api.post_json(path)

        assert (response.status_code, response.json()["code"]) == (409, "not_cancelable")
        assert funds_of(funded) == (50_000, 0)

    def test_hides_other_tenants(self, acme_api, rival):
        fund(rival, 10_000)
        payment = pay(rival)

        assert acme_api.post_json(f"{PATH}/{payment.pk}/cancel").status_code == 404
        assert Payment.objects.get().status == "created"


class TestDownload:
    def test_streams_what_the_filters_leave(self, acme, acme_api):
        fund(acme, 1_000)
        pay(acme, 100, to=account(holder_name="O'Neil & Sons"))
        canceled = pay(acme, 200)
        acme_api.post_json(f"{PATH}/{canceled.pk}/cancel")

        answer = acme_api.get(f"{PATH}.csv?status=created")

        header, line = b"".join(answer.streaming_content).decode().splitlines()
        assert answer["Content-Type"] == "text/csv; charset=utf-8"
        assert header.startswith("id,createdAt,amount,currency,status,method,recipientId,")
        assert ",100,USD,created,ach_credit,,O'Neil & Sons," in line
        assert "123456789" not in line

    def test_takes_no_page_size(self, acme_api):
        assert acme_api.get(f"{PATH}.csv?limit=5").status_code == 400

    def test_hides_other_tenants(self, acme, rival_api):
        fund(acme, 1_000)
        pay(acme, 100)

        answer = rival_api.get(f"{PATH}.csv")

        assert len(b"".join(answer.streaming_content).splitlines()) == 1


class TestLimits:
    PATH = "/api/v1/balance/limits"

    def test_say_how_much_one_payment_may_be_and_who_is_asked(self, acme, acme_api):
        shown = acme_api.get(self.PATH).json()["data"]["payments"]
        approval_settings.set_threshold(tenant_id=acme.pk, threshold=5, actor=SYSTEM, now=utc_now())
        limited = acme_api.get(self.PATH).json()["data"]["payments"]

        assert shown.keys() == {"perTransaction", "approvalThreshold", "rolling"}
        assert shown["perTransaction"] == {
            "ach_credit": 100_000_000,
            "rtp": 1_000_000_000,
            "auto": 1_000_000_000,
        }
        assert shown["approvalThreshold"] is None
        assert limited["approvalThreshold"] == 5

    def test_say_what_is_used_of_the_limits_on_money_out(self, funded, acme_api):
        wanted = {
            **caps.NONE,
            (CapScope.TENANT, Window.DAY): Cap(amount=50_000, payments=9),
            (CapScope.RECIPIENT, Window.DAY): Cap(amount=20_000),
        }
        limit_settings.change(tenant_id=funded.pk, wanted=wanted, actor=SYSTEM, now=utc_now())
        acme_api.post_json(PATH, {"amount": 8_000, "recipient": RECIPIENT})

        shown = acme_api.get(self.PATH).json()["data"]["payments"]["rolling"]
        refused = acme_api.post_json(PATH, {"amount": 12_001, "recipient": RECIPIENT})

        lines = {(line["scope"], line["window"]): line for line in shown}
        assert len(lines) == 8
        day, one = lines["tenant", "day"], lines["recipient", "day"]
        assert day["amount"] == {"limit": 50_000, "used": 8_000, "remaining": 42_000}
        assert day["payments"] == {"limit": 9, "used": 1, "remaining": 8}
        assert day["freesAt"] is not None
        assert one["amount"] == {"limit": 20_000, "used": None, "remaining": None}
        assert lines["key", "day"]["amount"] == {"limit": None, "used": 8_000, "remaining": None}
        problem = refused.json()
        assert (refused.status_code, problem["code"]) == (422, "payment_limit_reached")
        assert (problem["scope"], problem["remaining"]) == ("recipient", 12_000)
        assert problem["freesAt"] == day["freesAt"]
