"""A request that came over plain http is refused, not redirected: a program would go on sending its
key in the clear."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.builders import ApiClient, make_key

SUMMARY = "/api/v1/balance/summary"
TOPUP = "/api/v1/balance/topup"
ADVICE = (
    "Call https://, and replace the API key: it was sent where others could read it. If you did"
    " call https://, whoever runs this service must let its proxy set X-Forwarded-Proto."
)


@pytest.fixture
def behind_a_proxy(settings):
    """As `config.settings` has it with an https BASE_URL and one proxy."""
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.TRUSTED_PROXY_COUNT = 1


@pytest.mark.django_db
@pytest.mark.usefixtures("behind_a_proxy")
class TestBehindAProxy:
    @pytest.mark.parametrize(
        "said",
        [{}, {"X-Forwarded-Proto": "http"}, {"X-Forwarded-Proto": "https, http"},
         {"X-Forwarded-Proto": ""}],
    )  # fmt: skip
    @pytest.mark.parametrize("path", [SUMMARY, "/api/v1/nothing"])
    def test_what_was_not_https_is_refused_without_a_redirect(self, acme, path, said):
        response = ApiClient(make_key(acme)).get(path, headers=said)

        assert response.status_code == 403
        assert response["Content-Type"] == "application/problem+json"
        assert "Location" not in response
        problem = response.json()
        assert (problem["code"], problem["title"]) == ("https_required", "Plain http is refused")
        assert problem["detail"] == ADVICE
        assert response["X-Request-Id"] == problem["requestId"]

    def test_nothing_is_done_and_nothing_looked_up(self, acme, django_assert_num_queries):
        api = ApiClient(make_key(acme))

        with django_assert_num_queries(0):
            response = api.post_json(TOPUP, {"amount": 1}, **{"X-Forwarded-Proto": "http"})

        assert response.status_code == 403

    def test_the_log_says_so_and_not_the_key(self, acme, log):
        key = make_key(acme)

        ApiClient(key).get(SUMMARY, headers={"X-Forwarded-Proto": "http"})

        assert [line["code"] for line in log.of("request_finished")] == [403]
        assert key not in log.text

    @pytest.mark.parametrize("said", ["https", "http, https", " https"])
    def test_what_our_proxy_says_was_https_is_served(self, acme, said):
        """The last one is what our own proxy wrote; what is before it, anybody may have."""
        response = ApiClient(make_key(acme)).get(SUMMARY, headers={"X-Forwarded-Proto": said})

        assert response.status_code == 200

    @pytest.mark.parametrize(
        ("said", "status"),
        [("https", 200), ("https, http", 200), ("http, https", 403), ("https, http, https", 403)],
    )
    def test_of_two_proxies_the_first_met_the_caller(self, acme, settings, said, status):
        settings.TRUSTED_PROXY_COUNT = 2

        response = ApiClient(make_key(acme)).get(SUMMARY, headers={"X-Forwarded-Proto": said})

        assert response.status_code == status

    def test_probes_and_pages_are_not_the_api(self):
        client = Client(headers={"X-Forwarded-Proto": "http"})

        assert client.get("/healthz").status_code == 200
        assert client.get("/accounts/login/").status_code == 200


@pytest.mark.django_db
def test_where_nobody_says_how_a_request_came_it_is_served(acme, settings):
    """On a developer's machine, and where the server has no proxy of ours in front."""
    settings.SECURE_PROXY_SSL_HEADER = None

    response = ApiClient(make_key(acme)).get(SUMMARY, headers={"X-Forwarded-Proto": "http"})

    assert response.status_code == 200
