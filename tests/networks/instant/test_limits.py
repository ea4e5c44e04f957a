"""How much goes at once: by the day from which a network's limit counts."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import env
from networks.base import Accepted, InstructionRefused
from networks.instant import limits
from networks.instant.iso.profiles import FEDNOW, RTP
from tests.networks.instant.builders import payment

MARCH, MAY = date(2027, 3, 1), date(2027, 5, 1)


@pytest.fixture
def lowered(settings):
    settings.INSTANT_LIMITS = {"fednow": [(MAY, 700), (MARCH, 500)]}


def test_of_a_network_is_the_newest_that_has_begun(lowered):
    day = timedelta(days=1)

    assert [limits.of_network(FEDNOW, each) for each in (MARCH - day, MARCH, MAY - day, MAY)] == [
        1_000_000_000,
        500,
        500,
        700,
    ]
    assert limits.of_network(RTP, MAY) == 1_000_000_000


@pytest.mark.django_db
def test_is_kept(operator, bank, now, settings):
    today = operator.profile.settlement_date(now)
    settings.INSTANT_LIMITS = {operator.name: [(today, 1_233)]}
    too_much, enough = payment(), payment(amount=1_233)

    answers = bank.submit_many([too_much, enough], now=now)

    refusal = answers[too_much.id]
    assert isinstance(refusal, InstructionRefused)
    assert (refusal.code, refusal.reason) == ("amount_above_limit", "more than $12.33 at once")
    assert isinstance(answers[enough.id], Accepted)


class TestTheSetting:
    def test_says_networks_days_and_cents(self, monkeypatch):
        monkeypatch.setenv("X", "fednow.2027-03-01=500, fednow.2027-05-01=700")

        found = env.dated_limits("X", networks=("rtp", "fednow"))

        assert found == {"rtp": [], "fednow": [(MARCH, 500), (MAY, 700)]}

    @pytest.mark.parametrize(
        "text", ["500", "fednow=500", "fednow.2027-03-01", "fednow.soon=5", "swift.2027-03-01=5"]
    )
    def test_of_anything_else_stops_the_process(self, monkeypatch, text):
        monkeypatch.setenv("X", text)

        with pytest.raises(ImproperlyConfigured, match="which is no limit"):
            env.dated_limits("X", networks=("rtp", "fednow"))
