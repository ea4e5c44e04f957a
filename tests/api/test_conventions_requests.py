"""Request ids on every reply and log line, and logs that hold no secret."""

from __future__ import annotations

import json
import re

import pytest

from tests.api.machinery import NOTES
from tests.builders import ApiClient, make_key

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("machinery")]


class TestRequestId:
    @pytest.mark.parametrize("given", ["a", "order-17.retry_2", "X" * 128, "0123456789"])
    def test_of_the_caller_is_kept(self, acme_api, given):
        response = acme_api.get(NOTES, headers={"X-Request-Id": given})

        assert response["X-Request-Id"] == given

    @pytest.mark.parametrize("given", ["", "a b", "X" * 129, "é", "a\nb", "<script>", "a;b", "a\0"])
    def test_of_another_form_is_replaced(self, acme_api, given):
        response = acme_api.get(NOTES, headers={"X-Request-Id": given})

        assert re.fullmatch("[a-z]{24}", response["X-Request-Id"])

    @pytest.mark.parametrize("path", [NOTES, "/api/v1/nothing", "/healthz", "/nothing", "/metrics"])
    def test_is_on_every_reply(self, db, path):
        assert ApiClient().get(path, headers={"X-Request-Id": "r1"})["X-Request-Id"] == "r1"

    def test_is_another_one_for_each_request(self, acme_api):
        assert len({acme_api.get(NOTES)["X-Request-Id"] for _ in range(5)}) == 5

    @pytest.mark.parametrize(
        ("method", "path", "status"),
        [("GET", NOTES, 200), ("GET", f"{NOTES}/bug", 500), ("PUT", NOTES, 405),
         ("GET", "/api/v1/nothing", 404), ("POST", NOTES, 415)],
    )  # fmt: skip
    def test_is_in_the_error_and_on_every_log_line(self, acme_api, log, method, path, status):
        response = acme_api.generic(method, path, b"x", headers={"X-Request-Id": "r1"})

        assert response.status_code == status
        if status >= 400:
            assert response.json()["requestId"] == "r1"
        lines = log.lines
        assert lines
        assert {line["request_id"] for line in lines} == {"r1"}

    def test_does_not_leak_into_the_next_request(self, acme_api, log):
        acme_api.get(NOTES)
        log.clear()

        ApiClient().get("/healthz")

        assert all("tenant_id" not in line for line in log.lines)


class TestLogLines:
    def test_name_the_tenant_and_the_key_once_known(self, acme, log):
        key = make_key(acme)

        ApiClient(key).get(NOTES)

        (line,) = log.lines
        assert line["event"] == "request_finished"
        assert line["code"] == 200
        assert line["tenant_id"] == acme.pk
        assert line["key_id"].startswith("key_")
        assert line["ip"] == "127.0.0.1"
        assert line["timestamp"].endswith("Z")

    def test_a_bug_is_written_once_with_its_traceback(self, acme_api, log):
        acme_api.get(f"{NOTES}/bug")

        lines = log.lines
        assert [line["event"] for line in lines] == ["request_failed"]
        assert "RuntimeError: account […6789] of [redacted] is broken" in lines[0]["exception"]

    def test_the_forwarded_address_is_only_believed_from_our_proxies(self, acme_api, log, settings):
        acme_api.get(NOTES, headers={"X-Forwarded-For": "203.0.113.9"})
        settings.TRUSTED_PROXY_COUNT = 1
        acme_api.get(NOTES, headers={"X-Forwarded-For": "203.0.113.9"})

        assert [line["ip"] for line in log.lines] == ["127.0.0.1", "203.0.113.9"]


class TestCanaries:
    """Whatever a caller puts wherever: it does not come back in a reply nor in a log."""

    NUMBER = "000123456789"

    def test_a_key_is_nowhere(self, acme, log):
        key = make_key(acme)
        api = ApiClient(key)

        replies = [
            api.get(NOTES),
            api.get(f"{NOTES}/{key}"),
            api.get(f"{NOTES}?cursor={key}"),
            api.get(f"/nothing?key={key}"),
            api.get(f"{NOTES}/bug", headers={"User-Agent": key, "Referer": key}),
            api.post_json(NOTES, {"amount": 1, "text": key, key: key}),
            api.post_json(NOTES, f'{{"{key}": '.encode()),
        ]

        written = log.text
        assert written
        assert key not in written
        for reply in replies[:-2]:
            assert key not in reply.content.decode()

    def test_an_account_number_is_nowhere(self, acme_api, log):
        replies = [
            acme_api.post_json(NOTES, {"amount": 1, "accountNumber": self.NUMBER}),
            acme_api.post_json(NOTES, {"amount": self.NUMBER}),
            acme_api.post_json(NOTES, {"amount": 1, "kind": self.NUMBER}),
            acme_api.post_json(NOTES, f'{{"accountNumber": "{self.NUMBER}"'.encode()),
            acme_api.get(f"{NOTES}/{self.NUMBER}"),
            acme_api.get(f"{NOTES}/bug"),
        ]

        written = log.text
        assert "request_failed" in written
        assert self.NUMBER not in written
        for reply in replies:
            assert self.NUMBER not in reply.content.decode()

    def test_a_magic_link_is_not_in_the_log(self, db, log):
        ApiClient().get("/confirm/c4n4ry-t0ken/approve?x=1")

        written = log.text
        assert json.loads(written.splitlines()[-1])["request"] == (
            "GET /confirm/[redacted]/approve?x=1"
        )


def test_no_browser_is_invited(acme_api):
    """CORS is off: keys are for servers."""
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "GET"}

    for method in (acme_api.get, acme_api.options):
        answer = method("/api/v1/balance/summary", headers=asked)

        assert [name for name in answer.headers if name.startswith("Access-Control")] == []
