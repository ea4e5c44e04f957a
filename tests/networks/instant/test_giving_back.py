"""Another bank asks for money back: two people decide, and it goes back once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from common.database import job_doors, jobs
from networks.instant import giving_back, settling
from networks.instant.giving_back import AskRefused
from networks.instant.iso.messages import Reason
from networks.instant.models import Conversation, Message, ReturnAsk
from tests.networks.instant.builders import request
from tests.networks.instant.life import hear, kinds, news, the, wait
from tests.networks.instant.operator import only

pytestmark = pytest.mark.django_db

SETTLED = {"rtp": "ACTC", "fednow": "ACSC"}
ANN, BEN = "ann@ballast.example", "ben@ballast.example"


@pytest.fixture
def paid(operator, bank, now):
    """A request of ours that was paid."""
    told = request(now)
    bank.submit_many([told], now=now)
    money = operator.payment_of(only(operator.taken()), now=now)
    operator.say(money, operator.report(money, SETTLED[operator.name], now=now))
    hear()
    operator.taken()
    assert kinds(bank) == ["settled", "final"]
    return told, money


@pytest.fixture
def ask(paid, operator, now):
    operator.say(operator.ask_back(paid[1], now=now))
    hear()
    return ReturnAsk.objects.get()


def decide(ask, now, **answer):
    with job_doors.of(jobs.DESK):
        giving_back.propose(ask.pk, why="They asked by telephone", by=ANN, now=now, **answer)
        giving_back.confirm(ask.pk, by=BEN, now=now)
    wait(0)


def test_is_kept_for_a_person(ask, bank, operator):
    assert (ask.status, ask.amount, ask.code) == ("open", 1_234, "DUPL")
    assert ask.conversation.kind == "credit"
    assert (kinds(bank), operator.taken()) == ([], [])


def test_that_is_refused_is_answered_and_nothing_moves(ask, bank, operator, now):
    decide(ask, now, gives_back=False, reason_code="CUST")

    answer = only(operator.taken())
    assert (answer.kind, answer.status, str(answer.reason)) == ("camt.029", "RJCR", "CUST")
    ask.refresh_from_db()
    assert (ask.status, ask.decided_by, kinds(bank)) == ("refused", BEN, [])


def test_that_is_agreed_to_gives_the_money_back(ask, paid, bank, operator, now):
    told, money = paid

    decide(ask, now, gives_back=True)

    by_kind = {message.kind: message for message in operator.taken()}
    assert by_kind["camt.029"].status == "IPAY"
    if operator.name == "rtp":
        back = by_kind["pacs.008"]
        assert (back.returns_of, back.creditor) == (money.end_to_end_id, money.debtor)
    else:
        back = by_kind["pacs.004"]
        assert (back.original_message_id, back.creditor) == (money.message_id, money.debtor)
    assert back.amount == 1_234
    assert (kinds(bank), the(told.id).status) == ([], "final")

    operator.say(operator.report(back, SETTLED[operator.name], now=now))
    hear()

    assert kinds(bank) == ["returned DUPL"]
    statuses = dict(Conversation.objects.values_list("kind", "status"))
    assert statuses == {"request": "returned", "credit": "returned", "give_back": "final"}


def test_that_is_posted_later_counts_when_its_bank_had_time(ask, paid, bank, operator, now):
    """The money has left: whoever it was credited to does not keep it."""
    decide(ask, now, gives_back=True)
    back = next(each for each in operator.taken() if each.kind in {"pacs.008", "pacs.004"})
    operator.say(operator.report(back, "ACWP", now=now))
    hear()
    assert (settling.finish_pending(now=now), kinds(bank)) == (0, [])

    later = now + timedelta(days=6)
    assert (settling.finish_pending(now=later), settling.finish_pending(now=later)) == (1, 0)

    assert kinds(bank, days=7) == ["returned DUPL"]
    statuses = dict(Conversation.objects.values_list("kind", "status"))
    assert statuses == {"request": "returned", "credit": "returned", "give_back": "final"}


@pytest.mark.parametrize("amount", [1, 1_233, 1_235])
def test_of_another_amount_has_a_fault(paid, operator, bank, now, amount):
    """All that came goes back, or nothing."""
    operator.say(replace(operator.ask_back(paid[1], now=now), amount=amount))
    hear()

    assert Message.objects.get(status="faulty").fault == "amounts_disagree"
    assert (ReturnAsk.objects.count(), kinds(bank)) == (0, [])


def test_for_a_banks_own_reason_names_it(paid, operator, bank, now):
    reason = Reason(proprietary="A-BANKS-OWN-WORD")
    operator.say(replace(operator.ask_back(paid[1], now=now), reason=reason))
    hear()
    decide(ReturnAsk.objects.get(), now, gives_back=True)

    back = next(each for each in operator.taken() if each.kind in {"pacs.008", "pacs.004"})
    operator.say(operator.report(back, SETTLED[operator.name], now=now))
    hear()

    if operator.name == "fednow":
        assert back.reason == reason
    (event,) = news(bank)
    assert (event.kind, event.code, event.reason) == (
        "returned",
        "A-BANKS-",
        "code A-BANKS-OWN-WORD",
    )


def test_takes_two_people(ask, now):
    with pytest.raises(AskRefused, match="Nobody has said"):
        giving_back.confirm(ask.pk, by=ANN, now=now)
    giving_back.propose(ask.pk, gives_back=True, why="Ours", by=ANN, now=now)
    with pytest.raises(AskRefused, match="A colleague has to agree"):
        giving_back.confirm(ask.pk, by=ANN, now=now)
    with pytest.raises(AskRefused, match="Somebody has said"):
        giving_back.propose(ask.pk, gives_back=True, why="Ours", by=BEN, now=now)

    giving_back.turn_down(ask.pk, now=now)

    ask.refresh_from_db()
    assert (ask.status, ask.gives_back) == ("open", None)


def test_says_why(ask, now):
    with pytest.raises(AskRefused, match="Choose why"):
        giving_back.propose(ask.pk, gives_back=False, why="No", by=ANN, now=now)
    with pytest.raises(AskRefused, match="Say why"):
        giving_back.propose(ask.pk, gives_back=True, why=" ", by=ANN, now=now)


def test_moves_the_money_once(ask, paid, operator, now):
    operator.say(operator.ask_back(paid[1], now=now))
    hear()
    decide(ask, now, gives_back=True)
    (other,) = ReturnAsk.objects.filter(status="open")

    giving_back.propose(other.pk, gives_back=True, why="Again", by=ANN, now=now)
    with pytest.raises(AskRefused, match="on its way back"):
        giving_back.confirm(other.pk, by=BEN, now=now)


def test_of_money_that_never_came_has_a_fault(operator, bank, now):
    operator.say(operator.ask_back(operator.transfer(now=now), now=now))
    hear()

    assert ReturnAsk.objects.count() == 0
