from __future__ import annotations

from datetime import timedelta

import pytest

from tests.builders import NOW, make_endpoint, publish

ROOT = "/dashboard/events"


class TestList:
    def test_empty_teaches(self, dana_browser):
        assert b"No event yet" in dana_browser.get(ROOT).content

    def test_shows_what_happened_newest_first(self, acme, rival, dana_browser):
        first = publish(acme, type="payment.created", now=NOW)
        last = publish(acme, now=NOW + timedelta(seconds=1))
        theirs = publish(rival)

        content = dana_browser.get(ROOT).content.decode()

        assert content.index(last) < content.index(first)
        assert "$250.00 into the balance arrived" in content
        assert theirs not in content

    def test_narrows_by_event_and_payment(self, acme, dana_browser):
        wanted = publish(acme, payment_id="ftx_1")
        others = [publish(acme, payment_id="ftx_2"), publish(acme, payment_id="ftx_1", sequence=2)]

        lines = dana_browser.get(f"{ROOT}?type=payment.completed&payment=ftx_1").context["lines"]

        assert {line.id for line in lines} == {wanted, others[1]}

    @pytest.mark.parametrize("query", ["type=odd", "payment=%00", "payment=" + "a" * 33])
    def test_explains_odd_filters(self, acme, dana_browser, query):
        publish(acme)

        response = dana_browser.get(f"{ROOT}?{query}")

        assert response.status_code == 422
        assert response.context["form"].errors


class TestDetail:
    def test_shows_the_payload_and_who_was_told(self, acme, dana_browser):
        endpoint = make_endpoint(acme)
        event_id = publish(acme)

        content = dana_browser.get(f"{ROOT}/{event_id}").content.decode()

        assert endpoint.url in content
        assert "&quot;paymentId&quot;" in content

    def test_says_when_nobody_was_told(self, acme, dana_browser):
        assert b"Not delivered" in dana_browser.get(f"{ROOT}/{publish(acme)}").content

    def test_of_another_tenant_is_not_found(self, rival, dana_browser):
        assert dana_browser.get(f"{ROOT}/{publish(rival)}").status_code == 404
