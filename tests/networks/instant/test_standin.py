"""The whole way with an operator that shares no code with us: it judges what we write, settles
once, and misbehaves as networks do."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from common.clock import utc_now
from devstack.instant import client
from networks.instant import participants
from networks.instant.models import Conversation, Message
from tests.networks.instant.builders import account, payment, request
from tests.networks.instant.life import received, the, wait
from tests.networks.instant.standin import Life, a_life

pytestmark = pytest.mark.django_db

_PAYMENTS_ONLY = "122105155"
UNREACHABLE = {"rtp": "9912", "fednow": "AGNT"}


@pytest.fixture(params=["rtp", "fednow"])
def life(request, db) -> Iterator[Life]:
    with a_life(request.param) as life:
        yield life


def pay(life: Life, number: str = "7770001", **columns):
    told = payment(account=account(number), **columns)
    life.submit(told)
    return told


def ask(life: Life, number: str = "7770001", **columns):
    told = request(utc_now(), account=account(number), **columns)
    life.submit(told)
    return told


class TestPayment:
    def test_settles_once(self, life):
        before = life.we.position
        told = pay(life)

        assert life.kinds() == ["settled", "final"]
        assert before - life.we.position == 1_234
        assert the(told.id).settlement_date == life.we.profile.settlement_date(life.we.now())
        assert not Message.objects.exclude(fault="").exists()

    @pytest.mark.parametrize(
        ("number", "code"),
        [("40003", "AC03"), ("40004", "AC04"), ("40006", "AC06"), ("41004", "AM04"), ("51001", "")],
    )
    def test_that_is_refused(self, life, number, code):
        before = life.we.position
        pay(life, number)

        assert life.kinds() == [f"rejected {code or UNREACHABLE[life.profile]}"]
        assert life.we.position == before

    def test_that_is_settled_in_silence(self, life):
        before = life.we.position
        pay(life, "51002")
        assert life.kinds() == []

        life.pass_seconds(30)

        assert life.kinds() == ["settled", "final"]
        assert before - life.we.position == 1_234

    def test_that_is_lost_on_its_way(self, life):
        life.operator.ask("terms", ask_after=0.0)
        before = life.we.position
        pay(life, "51003")
        assert life.kinds() == []

        for _ in range(2):  # FedNow is asked first: what it does not have goes once more
            wait(30)
            life.hear_all()

        assert life.kinds() == ["settled", "final"]
        assert before - life.we.position == 1_234

    def test_that_is_posted_later(self, life):
        pay(life, "51004")
        assert life.kinds() == ["settled"]

        life.pass_seconds(5)

        assert life.kinds() == ["final"]

    def test_that_comes_back(self, life):
        before = life.we.position
        pay(life, "51005")
        assert life.kinds() == ["settled"]

        life.pass_seconds(5)

        assert life.kinds() == ["returned AC04"]
        assert life.we.position == before

    def test_that_is_answered_late(self, life):
        before = life.we.position
        pay(life, "51006")
        assert life.kinds() == []

        life.pass_seconds(45)

        assert life.kinds() == ["settled", "final"]
        assert before - life.we.position == 1_234

    @pytest.mark.parametrize("number", ["51007", "51008", "51009", "51010"])
    def test_settles_whatever_happens_to_its_answer(self, life, number):
        before = life.we.position
        pay(life, number)
        life.pass_seconds(0)

        assert life.kinds() == ["settled", "final"]
        assert before - life.we.position == 1_234


class TestRequest:
    def test_that_a_person_approves(self, life):
        before = life.we.position
        told = ask(life)
        assert life.kinds() == []

        life.operator.ask("answer_request", end_to_end_id=told.id)
        life.hear_all()

        assert life.kinds() == ["accepted", "settled", "final"]
        assert life.we.position - before == 1_234

    @pytest.mark.parametrize(
        ("number", "told"),
        [
            ("52001", ["accepted", "settled", "final"]),
            ("52002", ["accepted", "received"]),
            ("52003", ["accepted", "received", "settled", "final"]),
            ("52005", ["settled", "final"]),
            ("52006", ["rejected CUST"]),
            ("52007", []),
            ("52008", ["accepted"]),
            ("40004", ["rejected AC06"]),
        ],
    )
    def test_whatever_the_payer_does(self, life, number, told):
        ask(life, number)

        assert sorted(life.kinds() + received()) == sorted(told)

    def test_that_is_paid_after_its_expiry(self, life):
        before = life.we.position
        ask(life, "52004", expires_at=utc_now() + timedelta(seconds=3))
        assert life.kinds() == ["accepted"]

        life.pass_seconds(6)

        assert (life.kinds(), received()) == ([], ["received"])
        assert life.we.position - before == 1_234


def test_money_that_nobody_asked_for(life):
    before = life.we.position
    life.operator.ask("pay", profile=life.profile, amount=500)
    life.hear_all()

    assert (life.kinds(), received()) == ([], ["received"])
    assert life.we.position - before == 500


class TestItsDirectory:
    def test_is_taken_in_as_it_publishes_it(self, life):
        profile = life.we.profile.name
        content = Path(client.connection(life.operator.home)["participants"]).read_bytes()
        banks = participants.read(profile, content)
        participants.take(profile, banks, reason="The daily one", by="Ada", now=utc_now())

        pay(life)
        told = request(utc_now(), account=account(routing_number=_PAYMENTS_ONLY))
        life.submit(told)

        assert life.kinds() == ["settled", "final"]
        assert not Conversation.objects.filter(instruction_id=told.id).exists()
