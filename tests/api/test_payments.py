"""POST and GET /api/v1/payments, detail and cancel."""

from __future__ import annotations

from datetime import timedelta

import pytest

from balance import selectors as ledger
from common.clock import utc_now
from networks.sandbox.models import SandboxInstruction
from payments.models import Payment, PaymentMethod, Recipient
from payments.services import approval_settings, recipients, submission
from tenants.actors import SYSTEM
from tenants.models import Mode
from tests.builders import NOW, ApiClient, make_key, make_tenant
from tests.payments.builders import account, fund, funds_of, pay, run_due

PATH = "/api/v1/payments"
ACCOUNT = {
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


def body(**changes):
    return {"amount": 20_000, "recipient": ACCOUNT, "method": "ach_credit", **changes}


def ids(response):
    return [row["id"] for row in response.json()["data"]]


class TestAccepting:
    def test_answers_201_with_the_payment(self, funded, acme_api):
        response = acme_api.post_json(PATH, body(description="Invoice 7", metadata={"po": "7"}))

        assert response.status_code == 201
        payment = response.json()["data"]
        assert response["Location"] == f"{PATH}/{payment['id']}"
        assert acme_api.get(response["Location"]).json()["data"] == payment
        (lock,) = ledger.transactions(funded.pk).filter(type="lock")
        assert {
            "amount": 20_000,
            "currency": "USD",
            "status": "created",
            "method": "ach_credit",
            "recipientId": None,
            "description": "Invoice 7",
            "metadata": {"po": "7"},
            "waitForFunds": False,
            "waitsUntil": None,
            "onHold": False,
            "failureCode": None,
            "returned": False,
            "traceNumber": None,
            "balanceTransactionIds": [lock["id"]],
        }.items() <= payment.items()
        assert payment["createdBy"]["type"] == "api_key"
        assert payment["statusTimestamps"]["createdAt"] == payment["createdAt"]

    def test_never_shows_the_account_number_again(self, funded, acme_api):
        response = acme_api.post_json(PATH, body())

        assert response.json()["data"]["recipient"] == {
            "bankName": "JPMorgan Chase",
            "last4": "6789",
            "routingNumber": "021000021",
            "accountHolderName": "Supplier LLC",
            "accountHolderType": "business",
            "accountType": "checking",
        }
        for answer in (response, acme_api.get(response["Location"]), acme_api.get(PATH)):
            assert b"000123456789" not in answer.content

    def test_a_saved_recipient_needs_no_account_number(self, funded, acme_api):
        saved = recipients.save(tenant_id=funded.pk, details=account(), actor=SYSTEM, now=NOW)

        response = acme_api.post_json(PATH, {"amount": 100, "recipientId": saved.pk})

        assert response.status_code == 201
        payment = response.json()["data"]
        assert (payment["recipientId"], payment["method"]) == (saved.pk, "ach_credit")
        assert payment["recipient"]["last4"] == "6789"

    def test_shows_all_its_postings_at_the_end(self, funded, acme_api):
        payment = acme_api.post_json(PATH, body(method="rtp")).json()["data"]
        run_due(now=utc_now())

        found = acme_api.get(f"{PATH}/{payment['id']}").json()["data"]

        rows = ledger.transactions(funded.pk).filter(source_id=payment["id"]).order_by("sequence")
        assert found["status"] == "completed"
        assert [row["type"] for row in rows] == ["lock", "settlement"]
        assert found["balanceTransactionIds"] == [row["id"] for row in rows]

    def test_the_same_key_twice_is_one_payment(self, funded, acme_api):
        first, second = (
            acme_api.post_json(PATH, body(), **{"Idempotency-Key": "k-1"}) for _ in range(2)
        )
        run_due(now=utc_now())

        assert first.content == second.content
        assert second["Idempotent-Replayed"] == "true"
        assert Payment.objects.count() == SandboxInstruction.objects.count() == 1
        assert funds_of(funded) == (30_000, 0)


class TestRefusing:
    def test_more_than_is_available(self, funded, acme_api):
        response = acme_api.post_json(PATH, body(amount=50_001))

        assert (response.status_code, response.json()["code"]) == (422, "insufficient_balance")
        assert response.json()["availableBalance"] == 50_000
        assert response.json()["shortfall"] == 1
        assert not Payment.objects.exists()
        assert not Recipient.objects.exists()

    @pytest.mark.parametrize("amount", [0, -1, "100", 100.0, True, None, [], 10**16, 1e3])
    def test_amounts_that_are_not_a_positive_whole_number_of_cents(self, funded, acme_api, amount):
        response = acme_api.post_json(PATH, body(amount=amount))

        assert (response.status_code, response.json()["code"]) == (400, "invalid_request")
        assert response.json()["errors"][0]["field"] == "amount"
        assert not Payment.objects.exists()

    @pytest.mark.parametrize(
        ("changes", "code", "field"),
        [
            ({"status": "completed"}, "unknown_field", "status"),
            ({"recipient": ACCOUNT | {"iban": "x"}}, "unknown_field", "recipient.iban"),
            ({"recipient": {}}, "invalid_request", "recipient.accountNumber"),
            ({"recipient": "rcp_1"}, "invalid_request", "recipient"),
            ({"recipient": None}, "invalid_request", "recipient"),
            ({"recipientId": "rcp_1"}, "invalid_request", "recipient"),
            ({"method": "ach_debit"}, "invalid_request", "method"),
            ({"waitForFunds": "yes"}, "invalid_request", "waitForFunds"),
            ({"description": "x" * 141}, "invalid_request", "description"),
            ({"metadata": {"a": 1}}, "invalid_request", "metadata"),
            (
                {"recipient": ACCOUNT | {"routingNumber": "123456789"}},
                "invalid_bank_details",
                "routingNumber",
            ),
            (
                {"recipient": ACCOUNT | {"accountNumber": "4111111111111111"}},
                "invalid_bank_details",
                "accountNumber",
            ),
        ],
    )
    def test_bodies_that_make_no_sense(self, funded, acme_api, changes, code, field):
        response = acme_api.post_json(PATH, body(**changes))

        assert (response.status_code, response.json()["code"]) == (400, code)
        assert field in [error["field"] for error in response.json()["errors"]]
        assert not Payment.objects.exists()

    def test_no_recipient_at_all(self, funded, acme_api):
        response = acme_api.post_json(PATH, {"amount": 100})

        assert (response.status_code, response.json()["code"]) == (400, "invalid_request")

    @pytest.mark.parametrize("recipient_id", ["abc", "rcp_00000000000000000000000000", "a\u0000b"])
    def test_a_recipient_that_is_not_there(self, funded, acme_api, recipient_id):
        response = acme_api.post_json(PATH, {"amount": 100, "recipientId": recipient_id})

        assert response.status_code in {400, 404}
        assert not Payment.objects.exists()

    def test_a_recipient_of_another_tenant(self, funded, acme_api, rival):
        saved = recipients.save(tenant_id=rival.pk, details=account(), actor=SYSTEM, now=NOW)

        response = acme_api.post_json(PATH, {"amount": 100, "recipientId": saved.pk})

        assert (response.status_code, response.json()["code"]) == (404, "not_found")

    def test_a_removed_recipient(self, funded, acme_api):
        saved = recipients.save(tenant_id=funded.pk, details=account(), actor=SYSTEM, now=NOW)
        recipients.remove(tenant_id=funded.pk, recipient_id=saved.pk, actor=SYSTEM, now=NOW)

        response = acme_api.post_json(PATH, {"amount": 100, "recipientId": saved.pk})

        assert (response.status_code, response.json()["code"]) == (422, "recipient_removed")

    def test_more_than_the_method_allows(self, funded, acme_api):
        response = acme_api.post_json(PATH, body(amount=100_000_001))

        assert (response.status_code, response.json()["code"]) == (422, "amount_above_limit")
        assert response.json()["limit"] == 100_000_000

    def test_a_live_tenant_while_no_live_network_is_connected(self, db):
        tenant = make_tenant(mode=Mode.LIVE)
        fund(tenant, 50_000)

        response = ApiClient(make_key(tenant)).post_json(PATH, body())

        assert response.status_code == 422
        assert response.json()["code"] == "payment_method_not_supported"
        assert not SandboxInstruction.objects.exists()

    def test_a_key_that_may_only_read(self, funded):
        api = ApiClient(make_key(funded, scopes=["payments:read"]))

        response = api.post_json(PATH, body())

        assert (response.status_code, response.json()["code"]) == (403, "insufficient_scope")
        assert api.get(PATH).status_code == 200


class TestWaiting:
    def test_short_of_money_it_waits_and_says_until_when(self, acme, acme_api):
        response = acme_api.post_json(PATH, body(waitForFunds=True))

        assert response.status_code == 201
        payment = response.json()["data"]
        assert (payment["status"], payment["waitForFunds"]) == ("waiting_for_funds", True)
        assert payment["waitsUntil"] > payment["createdAt"]
        assert payment["statusTimestamps"]["createdAt"] is None
        assert payment["balanceTransactionIds"] == []
        assert payment["expectedArrivalDate"] is None
        assert funds_of(acme) == (0, 0)

    def test_it_runs_when_money_arrives(self, acme, acme_api):
        payment = acme_api.post_json(PATH, body(waitForFunds=True)).json()["data"]
        fund(acme, 20_000)
        run_due(now=utc_now())

        found = acme_api.get(f"{PATH}/{payment['id']}").json()["data"]

        assert (found["status"], found["waitsUntil"]) == ("completed", None)
        assert found["statusTimestamps"]["waitingForFundsAt"] == payment["createdAt"]
        assert funds_of(acme) == (0, 0)


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

    def test_one_page_costs_two_queries(self, funded, acme_api, django_assert_num_queries):
        for _ in range(5):
            pay(funded, 100)
        acme_api.get(PATH)

        with django_assert_num_queries(2):
            acme_api.get(PATH)


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
        assert submission.submit_due(now=NOW) == 0

    def test_a_waiting_one_had_locked_nothing(self, acme, acme_api):
        payment = pay(acme, 20_000, wait=True)

        found = acme_api.post_json(f"{PATH}/{payment.pk}/cancel").json()["data"]

        assert (found["status"], found["balanceTransactionIds"]) == ("canceled", [])
        assert funds_of(acme) == (0, 0)

    def test_is_too_late_once_submission_was_tried(self, funded, acme_api):
        payment = pay(funded, to="30002")
        submission.submit_due(now=NOW)

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

        assert shown == {
            "perTransaction": {"ach_credit": 100_000_000, "rtp": 1_000_000_000},
            "approvalThreshold": None,
        }
        assert limited["approvalThreshold"] == 5
