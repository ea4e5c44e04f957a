"""Proving a bank account over the API: the refusal is an answer, and its try is counted."""

from __future__ import annotations

import pytest

from funding.models import FundingSource, SourceVerification
from tests.builders import make_linked_source, make_source

WRONG = {"amounts": [1, 2]}
RIGHT = {"amounts": [22, 11]}


@pytest.fixture
def source(acme):
    return make_source(acme, account_number="50001")


@pytest.fixture
def path(source):
    return f"/api/v1/balance/funding-sources/{source.pk}/verify"


def tries_used():
    return SourceVerification.objects.get().tries_used


class TestVerify:
    def test_activates_the_account(self, acme_api, path, source):
        response = acme_api.post_json(path, RIGHT)

        shown = response.json()["data"]
        assert (response.status_code, shown["id"], shown["status"]) == (200, source.pk, "active")

    def test_says_how_many_tries_are_left(self, acme_api, path, source):
        answers = [acme_api.post_json(path, WRONG) for _ in range(4)]

        assert [answer.status_code for answer in answers] == [422] * 4
        assert {answer.json()["code"] for answer in answers} == {"verification_amounts_wrong"}
        assert [answer.json()["attemptsRemaining"] for answer in answers] == [2, 1, 0, 0]
        assert answers[-1].json()["detail"] == (
            "You have no attempts left. Remove this bank account and add it again."
        )
        assert FundingSource.objects.get(pk=source.pk).status == "verification_failed"

    def test_counts_a_request_that_is_repeated_with_its_key_once(self, acme_api, path):
        answers = [
            acme_api.post_json(path, WRONG, **{"Idempotency-Key": "try-1"}) for _ in range(3)
        ]

        assert len({answer.content for answer in answers}) == 1
        assert answers[2]["Idempotent-Replayed"] == "true"
        assert tries_used() == 1

    def test_refuses_what_is_not_waiting(self, acme, acme_api):
        linked = make_linked_source(acme)

        response = acme_api.post_json(f"/api/v1/balance/funding-sources/{linked.pk}/verify", RIGHT)

        assert (response.status_code, response.json()["code"]) == (409, "verification_not_pending")

    def test_hides_other_tenants_accounts(self, rival_api, path):
        assert rival_api.post_json(path, RIGHT).status_code == 404
        assert tries_used() == 0

    @pytest.mark.parametrize("source_id", ["abc", "a%00b", "fs_01kaj9s3h5x2q4z6w8y0v2t4r6"])
    def test_answers_404_to_any_other_id(self, acme_api, source_id):
        response = acme_api.post_json(f"/api/v1/balance/funding-sources/{source_id}/verify", RIGHT)

        assert response.status_code == 404


class TestBody:
    @pytest.mark.parametrize(
        "amounts",
        [
            None,
            11,
            "11,22",
            {},
            {"0": 11, "1": 22},
            [],
            [11],
            [11, 22, 33],
            [11, "22"],
            [11, 22.0],
            [11, True],
            [11, None],
            [11, [22]],
            [0, 22],
            [-11, 22],
            [11, 100],
            [11, 10**30],
        ],
    )
    def test_is_two_numbers_of_cents_and_costs_no_try(self, acme_api, path, amounts):
        response = acme_api.post_json(path, {"amounts": amounts})

        assert (response.status_code, response.json()["code"]) == (400, "invalid_request")
        assert response.json()["errors"][0]["field"].startswith("amounts")
        assert tries_used() == 0

    @pytest.mark.parametrize("amounts", ["11,22", [11], [11, 22, 33]])
    def test_is_shown_by_example(self, acme_api, path, amounts):
        body = acme_api.post_json(path, {"amounts": amounts}).json()

        assert [error["message"] for error in body["errors"]] == [
            "Send the two amounts in cents, such as [11, 22]."
        ]

    @pytest.mark.parametrize("body", [{}, {"amount": [11, 22]}, RIGHT | {"attempts": 9}])
    def test_has_exactly_one_field(self, acme_api, path, body):
        assert acme_api.post_json(path, body).status_code == 400
        assert tries_used() == 0
