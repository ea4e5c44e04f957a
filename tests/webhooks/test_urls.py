"""What is said about a URL that is refused, above all one of the caller's own machine."""

from __future__ import annotations

import pytest

from tenants.models import Mode
from webhooks.errors import InvalidWebhookUrl
from webhooks.services import urls

LOOPBACK = ["127.0.0.0/8", "::1/128"]
PRODUCTION = {"networks": [], "http": False}
DEVELOPMENT = {"networks": LOOPBACK, "http": True}
WITHOUT_HTTP = {"networks": LOOPBACK, "http": False}


@pytest.fixture
def refusal(settings):
    def told(url, *, networks, http, mode=Mode.SANDBOX):
        settings.WEBHOOK_ALLOWED_NETWORKS = networks
        settings.WEBHOOK_ALLOW_HTTP = http
        settings.BASE_URL = "http://localhost:8000"
        with pytest.raises(InvalidWebhookUrl) as refused:
            urls.check(url, mode=mode)
        return str(refused.value)

    return told


class TestLocalhost:
    @pytest.mark.parametrize(
        "url",
        [
            "http://localhost:9000/in",
            "https://LOCALHOST:9000/in",
            "https://hooks.localhost/in",
            "https://127.0.0.1:9000/in",
            "https://[::1]:9000/in",
        ],
    )
    def test_of_production_is_sent_to_a_tunnel(self, refusal, url):
        said = refusal(url, **PRODUCTION)

        assert said.endswith(
            "Only a development copy sends to localhost, the machine that it runs on: give a public"
            " https address here, such as that of a tunnel to your machine."
        )

    @pytest.mark.parametrize(
        "url",
        ["http://127.0.0.1:80/in", "https://127.0.0.1/in", "http://localhost:8000/dashboard/"],
        ids=["a port of the system", "the usual port", "our own address"],
    )
    def test_of_the_sandbox_on_the_same_machine_hears_which_are_taken(self, refusal, url):
        said = refusal(url, **DEVELOPMENT)

        assert said.endswith(
            "A sandbox tenant of this copy may also give http://localhost or http://127.0.0.1, with"
            " a port of 1024 or above that is not the copy's own."
        )

    def test_of_a_live_tenant_hears_that_http_is_for_the_sandbox(self, refusal):
        said = refusal("http://127.0.0.1:9000/in", **DEVELOPMENT, mode=Mode.LIVE)

        assert said == (
            "The URL must use https. This copy sends to localhost as well, but here over https"
            " only: plain http is for sandbox tenants of a development copy."
        )

    def test_without_plain_http_hears_the_same_in_the_sandbox(self, refusal):
        said = refusal("http://127.0.0.1:9000/in", **WITHOUT_HTTP)

        assert "over https only" in said

    def test_that_was_said_to_be_taken_is(self, settings):
        settings.WEBHOOK_ALLOWED_NETWORKS = LOOPBACK
        settings.WEBHOOK_ALLOW_HTTP = True
        settings.BASE_URL = "http://localhost:8000"

        taken = urls.check("http://127.0.0.1:9000/in", mode=Mode.SANDBOX)

        assert taken.text == "http://127.0.0.1:9000/in"


class TestOthers:
    @pytest.mark.parametrize(
        ("url", "sentence"),
        [
            ("https://10.0.0.8/", "The URL leads to an address that is not public."),
            ("http://93.184.215.14/", "The URL must use https: its address is public."),
            ("https://[::1/", "The URL has no valid host and port."),
            ("https://user:localhost@1.1.1.1/", "The URL may not hold a user name or password."),
        ],
    )
    def test_hear_nothing_of_localhost(self, refusal, url, sentence):
        assert refusal(url, **DEVELOPMENT) == sentence
