"""Whatever one end writes, the other reads as it was meant: the product and an operator that shares
no code with it say everything to each other that they can say."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from common.clock import utc_now
from networks.base import Instruction
from networks.instant import giving_back
from networks.instant.iso.layouts import fednow, rtp
from networks.instant.models import Conversation, Message, ReturnAsk
from tests.networks.instant.builders import account, payment, request
from tests.networks.instant.life import wait
from tests.networks.instant.standin import Life, a_life

pytestmark = pytest.mark.django_db

LAYOUTS = {"rtp": rtp.LAYOUTS, "fednow": fednow.LAYOUTS}
# All that we send to RTP is of a kind that it takes.
UNSAID = {"rtp": {"admi.002"}, "fednow": set()}
ANN, BEN = "ann@ballast.example", "ben@ballast.example"
PAYERS = ("7770001", "52001", "52002", "52004", "52006")
PAYEES = ("7770001", "40004", "51002", "51004", "51005", "51008", "51009", "51010")


@pytest.fixture(params=["rtp", "fednow"])
def life(request, db) -> Iterator[Life]:
    with a_life(request.param) as life:
        yield life


def everything_is_said(life: Life) -> None:
    """Payments and requests of every end, money that nobody asked for, money that is asked back and
    given back or not, questions, repeats, and a question that comes too early."""
    life.operator.ask("terms", ask_after=1e6)
    life.submit(payment(account=account("51002")))
    wait(30)
    life.hear_all()
    life.operator.ask("terms", ask_after=0.0)
    for number in PAYEES:
        life.submit(payment(account=account(number), description=f"Invoice {number} & <co>"))
    for number in PAYERS:
        until = utc_now() + timedelta(seconds=4 if number == "52004" else 3600)
        life.submit(request(utc_now(), account=account(number), expires_at=until))
    approved = request(utc_now(), account=account("7770002"), description="Float, November")
    life.submit(approved)
    life.operator.ask("answer_request", end_to_end_id=approved.id)
    life.operator.ask("pay", profile=life.profile, amount=500)
    life.hear_all()
    life.pass_seconds(30)
    for gives_back in (True, False):
        ask_back(life, approved if gives_back else None, gives_back=gives_back)


def ask_back(life: Life, paid: Instruction | None, *, gives_back: bool) -> None:
    """A payer's bank wants money back, and two people say yes or no."""
    if paid is None:
        number = life.operator.ask("pay", profile=life.profile, amount=700)
        life.hear_all()
        life.operator.ask("ask_back", payment=number)
    else:
        life.operator.ask("ask_back", end_to_end_id=paid.id)
    life.hear_all()
    ask = ReturnAsk.objects.get(status="open")
    answer: dict[str, Any] = {} if gives_back else {"reason_code": "CUST"}
    giving_back.propose(
        ask.pk, gives_back=gives_back, why="They called", by=ANN, now=utc_now(), **answer
    )
    giving_back.confirm(ask.pk, by=BEN, now=utc_now())
    wait(0)
    life.hear_all()


def said(life: Life, direction: str) -> list[dict[str, Any]]:
    """What the operator took ("in") or wrote ("out")."""
    found = life.operator.ask("messages", limit=10_000)
    return [each for each in found if each["direction"] == direction]


def test_what_one_end_writes_the_other_reads(life):
    everything_is_said(life)

    each_message_is_read(life)
    payments_are_read_as_they_were_meant(life)
    requests_are_read_as_they_were_meant(life)
    money_is_read_as_it_was_meant(life)
    both_hold_the_same_money(life)


def each_message_is_read(life):
    taken, written = said(life, "in"), said(life, "out")

    assert {each["note"] for each in taken} <= {"", "repeated"}
    assert not Message.objects.exclude(fault="").exists()
    assert {each["message_id"] for each in written} == set(
        Message.objects.filter(direction="in", status="applied").values_list(
            "message_id", flat=True
        )
    )
    kinds = {each["kind"] for each in taken} | {each["kind"] for each in written}
    assert kinds == {layout.message.kind for layout in LAYOUTS[life.profile]} - UNSAID[life.profile]


def payments_are_read_as_they_were_meant(life):
    record = life.operator.ask("payments")
    theirs = {each["end_to_end_id"]: each for each in record if each["direction"] == "out"}

    for row in Conversation.objects.filter(kind="payment"):
        read = theirs[row.end_to_end_id]
        assert (read["amount"], read["remittance"]) == (row.amount, row.description)
        assert (read["creditor_routing"], read["creditor_name"]) == (row.routing_number, row.name)
        assert read["creditor_account"][-4:] == row.account_last4
        assert read["debtor_account"] == life.we.account.account_number
        assert read["instruction_id"]
    assert len(theirs) >= len(PAYEES)


def requests_are_read_as_they_were_meant(life):
    theirs = {each["end_to_end_id"]: each for each in life.operator.ask("requests")}

    rows = Conversation.objects.filter(kind="request")
    for row in rows:
        read = theirs[row.end_to_end_id]
        assert (read["amount"], read["remittance"]) == (row.amount, row.description)
        assert (read["debtor_routing"], read["debtor_name"]) == (row.routing_number, row.name)
        assert read["debtor_account"][-4:] == row.account_last4
        assert read["creditor_account"] == life.we.account.account_number
        assert row.expires_at is not None
        assert datetime.fromisoformat(read["expires_at"]) == row.expires_at.replace(microsecond=0)
    assert rows.count() == len(theirs) == len(PAYERS) + 1


def money_is_read_as_it_was_meant(life):
    record = life.operator.ask("payments")
    back = {each["returns_id"] for each in record} - {None}
    theirs = {
        each["message_id"]: each
        for each in record
        if each["direction"] == "in" and each["status"] == "settled"
    }

    credits = Conversation.objects.filter(kind="credit").exclude(status="rejected")
    assert {row.reference for row in credits} == theirs.keys()
    for row in credits:
        read = theirs[row.reference]
        assert (read["amount"], read["debtor_name"]) == (row.amount, row.name)
        assert read["debtor_account"][-4:] == row.account_last4
        assert (row.status == "returned") == (read["id"] in back)
        assert str(row.settlement_date) == read["cycle_day"]


def both_hold_the_same_money(life):
    """What came less what went, in cents."""
    opening = life.operator.ask("terms")["opening_position"]
    settled = Conversation.objects.filter(settled_at__isnull=False)
    sums = dict.fromkeys(("credit", "payment", "give_back", "request"), 0)
    for row in settled:
        sums[row.kind] += row.amount

    assert life.we.position - opening == sums["credit"] - sums["payment"] - sums["give_back"]
    assert sums["give_back"] == the_amount_that_was_asked_back()


def the_amount_that_was_asked_back() -> int:
    return ReturnAsk.objects.exclude(status="refused").get().amount
