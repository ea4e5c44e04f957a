from __future__ import annotations

import pytest

from tests.builders import NOW, make_endpoint
from webhooks.models import DisabledReason
from webhooks.states import EndpointStatus


class TestWebhooks:
    def test_an_empty_list_leads_to_the_guide(self, dana_browser):
        content = dana_browser.get("/dashboard/webhooks").content.decode()

        assert "No endpoint yet" in content
        assert 'href="/docs/webhooks"' in content

    def test_shows_where_events_go_but_no_secret(self, acme, dana_browser):
        endpoint = make_endpoint(acme, events=["payment.failed"], last_success_at=NOW)

        content = dana_browser.get("/dashboard/webhooks").content.decode()

        assert "https://hooks.example.com/in" in content
        assert "payment.failed" in content
        assert "Healthy" in content
        assert "whsec_" not in content
        assert endpoint.secret_token not in content

    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({"consecutive_failures": 3}, ["Failing"]),
            (
                {"status": EndpointStatus.DISABLED, "disabled_reason": DisabledReason.GONE},
                ["Off", "It answered 410 Gone"],
            ),
        ],
    )
    def test_says_what_is_wrong(self, acme, dana_browser, fields, words):
        make_endpoint(acme, **fields)

        content = dana_browser.get("/dashboard/webhooks").content.decode()

        assert [word for word in words if word not in content] == []

    def test_hides_other_tenants(self, rival, dana_browser):
        make_endpoint(rival)

        assert b"No endpoint yet" in dana_browser.get("/dashboard/webhooks").content

    def test_costs_the_same_for_one_and_for_ten(
        self, acme, dana_browser, django_assert_max_num_queries
    ):
        for number in range(10):
            make_endpoint(acme, url=f"https://hooks.example.com/{number}")

        with django_assert_max_num_queries(5):
            dana_browser.get("/dashboard/webhooks")
