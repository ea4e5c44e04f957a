"""What people and programs are told when the database is lost in the middle of their request."""

from __future__ import annotations

import pytest
from django.db import connection

from payments.models import Payment
from tests.balance.builders import fund
from tests.builders import ApiClient, browser_of, make_auto_funding, make_key, make_member
from tests.crashes.bomb import Moment

pytestmark = pytest.mark.django_db(transaction=True)

RECIPIENT = {
    "accountNumber": "9876543",
    "routingNumber": "021000021",
    "accountHolderName": "Paid Inc",
    "accountHolderType": "business",
    "accountType": "checking",
}
BODY = {"amount": 5_000, "method": "rtp", "recipient": RECIPIENT}
UNKNOWN = "Whether this request was carried out is not known"


def points(bomb, act, *, every):
    """What `act` answers with the connection lost at each `every`-th database call, and without."""
    for moment in Moment:
        bomb.has_gone_off, at = True, 1 - every
        while bomb.has_gone_off:
            at += every
            with bomb.armed(at=at, moment=moment):
                answer = act()
            connection.close()
            yield answer


class TestTheApi:
    def test_says_503_and_when_to_come_back(self, acme, bomb):
        """Never a success that is not stored, also where auto-funding looks, which hid it."""
        fund(acme, 500_000)
        make_auto_funding(acme, low_balance_threshold=1_000_000)
        api = ApiClient(make_key(acme))

        answers = list(points(bomb, lambda: api.post_json("/api/v1/payments", BODY), every=2))

        assert {answer.status_code for answer in answers} == {201, 503}
        told = {answer.json()["data"]["id"] for answer in answers if answer.status_code == 201}
        assert told <= set(Payment.objects.values_list("pk", flat=True))
        lost = [answer for answer in answers if answer.status_code == 503]
        assert {answer["Retry-After"] for answer in lost} == {"1"}
        assert {answer["Content-Type"] for answer in lost} == {"application/problem+json"}
        assert all(UNKNOWN in answer.json()["detail"] for answer in lost)
        assert len(lost) > 10

    def test_does_not_ask_a_reader_to_look_first(self, acme, bomb):
        api = ApiClient(make_key(acme))

        with bomb.armed(at=2):
            answer = api.get("/api/v1/balance/summary")

        assert answer.status_code == 503
        assert answer.json()["detail"] == "The database is busy or restarting."


class TestPages:
    @pytest.fixture
    def person(self, acme):
        person = browser_of(make_member(acme, email="olive@acme.example"))
        person.raise_request_exception = False
        return person

    @pytest.mark.parametrize("is_development", [False, True])
    def test_say_that_the_outcome_is_not_known(self, acme, person, bomb, is_development, settings):
        settings.DEBUG = is_development

        answers = points(bomb, lambda: person.get("/dashboard/payments"), every=5)

        lost = [answer for answer in answers if answer.status_code != 200]
        assert {answer.status_code for answer in lost} == {503}
        assert {answer["Retry-After"] for answer in lost} == {"1"}
        assert all("We could not finish this" in answer.content.decode() for answer in lost)

    def test_say_so_when_a_middleware_meets_it(self, acme, person, bomb):
        """The session is saved after the view, at the last calls of the request."""

        def switch():
            return person.post("/dashboard/tenant", {"tenant": acme.pk})

        with bomb.armed(at=None):
            assert switch().status_code == 302
        calls = bomb.calls

        with bomb.armed(at=calls):
            assert switch().status_code == 503
