"""The landing page and the request log."""

from __future__ import annotations

from datetime import timedelta

import pytest

from api.models import ApiRequest
from tenants.models import ApiKey
from tests.builders import NOW, make_key, make_source

ROOT = "/dashboard/requests"


@pytest.fixture
def key(acme):
    make_key(acme)
    return ApiKey.objects.get(tenant=acme)


def asked(key, **fields):
    """One request in the log."""
    values = {
        "request_id": "r1",
        "method": "GET",
        "path": "/api/v1/balance/summary",
        "status": 200,
        "duration_us": 12_345,
        "created_at": NOW,
    }
    return ApiRequest.objects.create(tenant_id=key.tenant_id, key=key, **(values | fields))


def shown(browser, query):
    return {line.id for line in browser.get(f"{ROOT}?{query}").context["lines"]}


class TestLanding:
    def test_of_a_new_tenant_says_what_to_do_first(self, acme, dana_browser):
        content = dana_browser.get("/dashboard/developers").content.decode()

        assert "Create a key</a> first" in content
        assert "There is no bank account to add it from yet" in content
        assert acme.pk in content
        assert "http://localhost:8000/api/v1/balance/summary" in content

    def test_fills_in_the_ids_of_the_tenant(self, acme, key, dana_browser):
        source = make_source(acme)

        content = dana_browser.get("/dashboard/developers").content.decode()

        assert f'"fundingSourceId": "{source.pk}"' in content.replace("&quot;", '"')
        assert "bal_test_…" in content

    def test_shows_what_was_refused_lately(self, key, dana_browser):
        refused = asked(key, status=422, error_code="amount_above_limit")
        worked = asked(key)

        content = dana_browser.get("/dashboard/developers").content.decode()

        assert refused.pk in content
        assert worked.pk not in content


class TestRequestLog:
    def test_empty_teaches(self, dana_browser):
        assert b"No request yet" in dana_browser.get(ROOT).content

    def test_shows_requests_newest_first_and_only_the_own(self, key, rival, dana_browser):
        first = asked(key)
        last = asked(key, created_at=NOW + timedelta(seconds=1), status=404, error_code="not_found")
        make_key(rival)
        theirs = asked(ApiKey.objects.get(tenant=rival))

        content = dana_browser.get(ROOT).content.decode()

        assert content.index(last.pk) < content.index(first.pk)
        assert "404 Not Found" in content
        assert "12 ms" in content
        assert theirs.pk not in content

    @pytest.mark.parametrize(
        ("query", "names"),
        [
            ("answer=ok", {"ok"}),
            ("answer=refused", {"refused", "bug"}),
            ("answer=4xx", {"refused"}),
            ("answer=5xx", {"bug"}),
            ("method=POST", {"refused"}),
            ("path=%2Fpayments", {"refused"}),
            ("path=%25", set()),
            ("request_id=r9", {"bug"}),
            ("method=POST&answer=5xx", set()),
        ],
    )
    def test_narrows(self, key, dana_browser, query, names):
        rows = {
            "ok": asked(key),
            "refused": asked(key, method="POST", path="/api/v1/payments", status=422),
            "bug": asked(key, status=500, request_id="r9"),
        }

        assert shown(dana_browser, query) == {rows[name].pk for name in names}

    def test_narrows_to_a_key(self, acme, key, dana_browser):
        make_key(acme)
        other = ApiKey.objects.exclude(pk=key.pk).get()
        wanted = asked(other)
        asked(key)

        assert shown(dana_browser, f"key={other.pk}") == {wanted.pk}

    @pytest.mark.parametrize(
        "query",
        ["answer=odd", "method=GET%00", "key=key_1", "path=%00", "request_id=" + "a" * 200],
    )
    def test_explains_odd_filters(self, key, dana_browser, query):
        asked(key)

        response = dana_browser.get(f"{ROOT}?{query}")

        assert response.status_code == 422
        assert b"field__error" in response.content
        assert response.context["lines"] == []

    def test_pages_follow_each_other_without_gap(self, key, dana_browser):
        made = [asked(key).pk for _ in range(60)]  # all at the same microsecond

        seen, before = [], ""
        while True:
            context = dana_browser.get(f"{ROOT}?method=GET&before={before}").context
            seen += [line.id for line in context["lines"]]
            before = context["page"].older
            if not before:
                break

        assert seen == sorted(made, reverse=True)


class TestDetail:
    def test_shows_the_problem_document_and_leads_to_its_explanation(self, key, dana_browser):
        row = asked(
            key,
            status=422,
            error_code="amount_above_limit",
            problem={"code": "amount_above_limit", "detail": "<b>At most</b>"},
            query="limit=5",
            idempotency_key="invoice-7",
            address="203.0.113.7",
        )

        content = dana_browser.get(f"{ROOT}/{row.pk}").content.decode()

        assert "&lt;b&gt;At most&lt;/b&gt;" in content
        assert 'href="/docs/errors#amount_above_limit"' in content
        for words in ("limit=5", "invoice-7", "203.0.113.7", "12 ms", key.prefix):
            assert words in content

    def test_shows_what_is_kept_of_the_body(self, key, dana_browser):
        row = asked(key, method="POST", path="/api/v1/payments", fields={"amount": 25_000})

        content = dana_browser.get(f"{ROOT}/{row.pk}").content.decode()

        assert "What you sent" in content
        assert "&quot;amount&quot;: 25000" in content

    def test_of_a_request_without_such_fields_says_nothing_of_a_body(self, key, dana_browser):
        assert b"What you sent" not in dana_browser.get(f"{ROOT}/{asked(key).pk}").content

    @pytest.mark.parametrize("pk", ["req_1", "%00", "a" * 300, "key_" + "0" * 26])
    def test_that_is_none_is_not_found(self, dana_browser, pk):
        assert dana_browser.get(f"{ROOT}/{pk}").status_code == 404

    def test_of_another_tenant_is_not_found(self, rival, dana_browser):
        make_key(rival)
        row = asked(ApiKey.objects.get())

        assert dana_browser.get(f"{ROOT}/{row.pk}").status_code == 404
