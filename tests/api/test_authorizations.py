"""`authorization` in bodies: what an API key says that the account holder agreed to."""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar

import pytest

from common import clock
from common.clock import utc_now
from funding.models import AuthorizedDebit, DebitAuthorization, FundingSource, FundingTransaction
from funding.services import drafts
from networks.links.base import LinkedAccount
from tenants.models import ApiKey, Mode
from tests.builders import ApiClient, make_key, make_tenant
from tests.funding.agreeing import agree, make_individual
from tests.funding.live_network import connected
from tests.funding.test_drafts import LINKED

TOPUP = "/api/v1/balance/topup"
MANUAL = "/api/v1/balance/funding-sources/manual"
LINK = "/api/v1/balance/funding-sources"
RULE = "/api/v1/balance/auto-funding/config"
GIVEN = {
    "type": "single",
    "text": "I agree to a debit of $250.00.\nI can revoke it by e-mail.",
    "acceptedAt": "2026-01-05T10:00:00Z",
    "ip": "203.0.113.7",
}


@pytest.fixture
def tenant(db):
    with connected():
        yield make_tenant(mode=Mode.LIVE)


@pytest.fixture
def api(tenant):
    return ApiClient(make_key(tenant))


@pytest.fixture
def source(tenant):
    return make_individual(tenant)


def body(source, **changes):
    return {"amount": 25_000, "fundingSourceId": source.pk, **changes}


class TestATopUp:
    def test_is_refused_until_the_holder_has_agreed(self, api, source):
        response = api.post_json(TOPUP, body(source))

        problem = response.json()
        assert (response.status_code, problem["code"]) == (422, "authorization_required")
        assert problem["errors"][0]["field"] == "authorization"
        assert problem["type"].endswith("authorization_required")
        assert not FundingTransaction.objects.exists()

        assert api.post_json(TOPUP, body(source, authorization=GIVEN)).status_code == 201

    def test_keeps_who_said_so_what_and_when(self, api, source):
        api.post_json(TOPUP, body(source, authorization=GIVEN))

        kept = DebitAuthorization.objects.get()
        assert kept.text == GIVEN["text"]
        assert clock.text_of(kept.accepted_at) == "2026-01-05T10:00:00.000000Z"
        assert (kept.address, kept.accepted_by_id) == ("203.0.113.7", ApiKey.objects.get().pk)
        assert (kept.kind, kept.amount_max) == ("single", 25_000)

    def test_goes_on_what_was_agreed_to_before(self, api, source):
        agree(source)

        assert api.post_json(TOPUP, body(source)).status_code == 201
        assert DebitAuthorization.objects.get().debits.count() == 1

    def test_is_made_once_with_its_authorization_by_a_repeat(self, api, source):
        sent = body(source, authorization=GIVEN)
        answers = [api.post_json(TOPUP, sent, **{"Idempotency-Key": "key-1"}) for _ in range(2)]

        assert answers[0].content == answers[1].content
        assert answers[1]["Idempotent-Replayed"] == "true"
        assert DebitAuthorization.objects.count() == AuthorizedDebit.objects.count() == 1

    def test_twice_needs_two_single_ones(self, api, source):
        agree(source, "single")

        codes = [api.post_json(TOPUP, body(source)).status_code for _ in range(2)]

        assert codes == [201, 422]

    def test_of_a_sandbox_tenant_needs_none_and_keeps_one(self, acme, acme_api):
        source = make_individual(acme)

        assert acme_api.post_json(TOPUP, body(source)).status_code == 201
        assert acme_api.post_json(TOPUP, body(source, authorization=GIVEN)).status_code == 201
        assert DebitAuthorization.objects.count() == 1

    def test_beyond_its_own_maximum_is_refused(self, api, source):
        given = GIVEN | {"maxAmount": 24_999}

        response = api.post_json(TOPUP, body(source, authorization=given))

        assert response.json()["detail"] == "The authorization is for at most $249.99."
        assert not DebitAuthorization.objects.exists()


class TestWhatIsNoAuthorization:
    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("type", "both"),
            ("type", None),
            ("text", ""),
            ("text", "   \n "),
            ("text", "x" * 4_001),
            ("text", "x" * 60_000),
            ("text", "I agree\x1b[2J"),
            ("text", "I agree\u202e"),
            ("text", 5),
            ("acceptedAt", "yesterday"),
            ("acceptedAt", "2026-01-05T10:00:00"),
            ("acceptedAt", None),
            ("ip", "999.1.1.1"),
            ("ip", "203.0.113.7:80"),
            ("ip", "fe80::1%eth0"),
            ("ip", "localhost"),
            ("ip", ""),
            ("ip", 3405803783),
            ("maxAmount", 0),
            ("maxAmount", "25000"),
            ("color", "blue"),
        ],
    )
    def test_is_named_and_changes_nothing(self, api, source, field, value):
        response = api.post_json(TOPUP, body(source, authorization=GIVEN | {field: value}))

        assert response.status_code == 400
        assert [error["field"] for error in response.json()["errors"]] == [f"authorization.{field}"]
        assert not DebitAuthorization.objects.exists()
        assert not FundingTransaction.objects.exists()

    def test_a_text_with_a_nul(self, api, source):
        given = GIVEN | {"text": "I agree\x00"}

        assert api.post_json(TOPUP, body(source, authorization=given)).status_code == 400
        assert not DebitAuthorization.objects.exists()

    @pytest.mark.parametrize("ahead", [timedelta(minutes=10), timedelta(days=3_650)])
    def test_a_moment_that_is_still_to_come(self, api, source, ahead):
        given = GIVEN | {"acceptedAt": clock.text_of(utc_now() + ahead)}

        problem = api.post_json(TOPUP, body(source, authorization=given)).json()

        assert (problem["status"], problem["code"]) == (400, "invalid_authorization")
        assert problem["errors"][0]["field"] == "authorization.acceptedAt"
        assert not FundingTransaction.objects.exists()

    def test_a_moment_before_anybody_could_agree(self, api, source):
        given = GIVEN | {"acceptedAt": "1999-12-31T23:59:59Z"}

        problem = api.post_json(TOPUP, body(source, authorization=given)).json()

        assert problem["code"] == "invalid_authorization"
        assert not DebitAuthorization.objects.exists()

    @pytest.mark.parametrize("field", ["type", "text", "acceptedAt", "ip"])
    def test_each_of_the_four_is_needed(self, api, source, field):
        given = {name: value for name, value in GIVEN.items() if name != field}

        response = api.post_json(TOPUP, body(source, authorization=given))

        assert response.json()["errors"][0]["field"] == f"authorization.{field}"

    def test_a_body_of_more_than_64_kib(self, api, source):
        response = api.post_json(TOPUP, body(source, authorization=GIVEN | {"text": "x" * 65_537}))

        assert response.status_code == 413

    @pytest.mark.parametrize("value", ["yes", None, [], 1])
    def test_anything_but_an_object(self, api, source, value):
        response = api.post_json(TOPUP, body(source, authorization=value))

        assert (response.status_code, response.json()["errors"][0]["field"]) == (
            400,
            "authorization",
        )


class TestAnAccountThatIsAdded:
    NUMBERS: ClassVar = {
        "accountNumber": "000123456789",
        "routingNumber": "021000021",
        "accountHolderName": "Jo Doe",
        "accountHolderType": "individual",
        "accountType": "checking",
    }

    def test_is_added_without_one(self, api):
        assert api.post_json(MANUAL, self.NUMBERS).status_code == 201
        assert not DebitAuthorization.objects.exists()

    def test_keeps_one_for_later_debits(self, api):
        given = GIVEN | {"type": "recurring", "maxAmount": 50_000}

        api.post_json(MANUAL, self.NUMBERS | {"authorization": given})

        kept = DebitAuthorization.objects.get()
        assert (kept.source, kept.scope) == (FundingSource.objects.get(), "account")
        assert kept.amount_rule == "As the text says, at most $500.00 each time."

    def test_keeps_nothing_of_a_refused_one(self, api, source):
        response = api.post_json(MANUAL, self.NUMBERS | {"authorization": GIVEN})

        assert response.json()["code"] == "duplicate_funding_source"
        assert not DebitAuthorization.objects.exists()

    def test_by_link_keeps_one_too(self, acme_api):
        linked = {
            "linkProcessorToken": "processor-sandbox-acme",
            "linkAccountId": "acc_1",
            "accountHolderName": "Jo Doe",
        }

        assert acme_api.post_json(LINK, linked | {"authorization": GIVEN}).status_code == 201
        assert DebitAuthorization.objects.get().source == FundingSource.objects.get()


class TestAHolderOfAnUnknownKind:
    @pytest.mark.parametrize(
        ("told", "said", "kept"),
        [
            (None, "", ("individual", False)),
            (None, "business", ("business", True)),
            (None, "individual", ("individual", True)),
            ("business", "individual", ("business", True)),
            ("individual", "business", ("individual", True)),
        ],
    )
    def test_is_what_the_tenant_says_where_the_provider_does_not(self, told, said, kept):
        linked = LinkedAccount(**{**vars(LINKED), "holder_type": told})

        draft = drafts.of_linked(
            linked, mode="live", account_id="acc_1", holder_name="Jo Doe", holder_type=said
        )

        assert (draft.account.holder_type, draft.is_holder_known) == kept

    def test_may_be_named_in_the_body(self, acme_api):
        linked = {
            "linkProcessorToken": "processor-sandbox-acme",
            "linkAccountId": "acc_1",
            "accountHolderName": "Jo Doe",
            "accountHolderType": "individual",
        }

        # The sandbox's provider tells that it is a business's, and what it tells counts.
        answer = acme_api.post_json(LINK, linked)
        assert answer.json()["data"]["accountHolderType"] == "business"


class TestAutoFunding:
    SETTINGS: ClassVar = {
        "enabled": True,
        "lowBalanceThreshold": 10_000,
        "fundingAmount": 50_000,
        "fundingMethod": "ach_debit",
    }

    def test_is_refused_until_the_holder_has_agreed(self, api, source):
        response = api.post_json(RULE, self.SETTINGS)

        assert (response.status_code, response.json()["code"]) == (422, "authorization_required")

        agree(source)
        assert api.post_json(RULE, self.SETTINGS).status_code == 200
