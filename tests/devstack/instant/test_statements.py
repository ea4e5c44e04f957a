"""What is stated of cycle days, read by the product's own reader, and how money goes back."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from devstack.instant import client
from networks.bank_statements.items import BankStatement, LineKind
from networks.bank_statements.reading import collect, read
from networks.instant.iso.messages import (
    CreditTransfer,
    PaymentReturn,
    Reason,
    Resolution,
    ReturnRequest,
    StatusReport,
)
from tests.devstack.instant.conftest import Participant, an_operator

FRIDAY = "2035-11-02T16:00:00+00:00"  # before the weekend on which summer time ends
ENDS = {"rtp": "2035-11-03T04:00:00+00:00", "fednow": "2035-11-02T23:00:00+00:00"}


@pytest.fixture
def operator():
    with an_operator("--clock", FRIDAY) as running:
        yield running


@pytest.fixture(params=["rtp", "fednow"])
def us(request, operator):
    return getattr(operator, request.param)


def stated(us, day: str) -> BankStatement:
    """What the operator states of a day; the product's reader has no fault to find."""
    folder = Path(client.connection(us.operator.home)["statements"])
    content = (folder / f"{us.name}_camt053_{day}.xml").read_bytes()
    found = collect(read(io.BytesIO(content)))
    (statement,) = found.statements
    assert (found.faults, statement.faults) == ((), ())
    return statement


class TestACycleDay:
    def test_is_stated_when_it_is_over(self, us):
        transfer = us.transfer(amount=700)
        us.send(transfer)
        us.operator.ask("pay", profile=us.name, amount=5_000, end_to_end_id="GIFT")
        _, payment = us.fetch()
        us.accept(payment)
        us.operator.ask("clock", to=ENDS[us.name])

        statement = stated(us, "20351102")

        lines, heading = statement.lines, statement.heading
        assert [each.amount for each in lines] == [-700, 5_000]
        assert [each.kind for each in lines] == [LineKind.DEBIT, LineKind.CREDIT]
        assert lines[0].references.end_to_end == transfer.end_to_end_id
        assert lines[1].party == "AVA STONE"
        assert heading.account.number == us.known["account"]
        assert (heading.opening, heading.closing) == (us.position - 4_300, us.position)

    def test_comes_on_weekends_as_well(self, us):
        us.operator.ask("clock", to="2035-11-06T12:00:00+00:00")

        for day in ("20351102", "20351103", "20351104", "20351105"):
            assert stated(us, day).lines == ()

    def test_names_money_that_was_brought_in_and_takes_it_once(self, us):
        for _ in range(2):
            us.operator.ask("fund", profile=us.name, amount=50_000, reference="OURS1")
        us.operator.ask("fund", profile=us.name, amount=-700)
        with pytest.raises(client.ControlError, match="another amount"):
            us.operator.ask("fund", profile=us.name, amount=51_000, reference="OURS1")
        us.operator.ask("clock", to=ENDS[us.name])

        statement = stated(us, "20351102")

        said = [(each.amount, each.references.end_to_end) for each in statement.lines]
        assert said == [(50_000, "OURS1"), (-700, "")]
        assert statement.heading.closing == 100_000_000 + 49_300

    def test_of_a_new_operator_may_be_over_already(self):
        with an_operator("--clock", FRIDAY, "--term", "days_before=1") as operator:
            operator.ask("clock", seconds=1)  # what is due is done before

            for us in (operator.rtp, operator.fednow):
                assert stated(us, "20351101").lines == ()

    def test_of_fednow_begins_in_the_evening(self, operator):
        us = operator.fednow
        operator.ask("clock", to=ENDS["fednow"])
        us.send(us.transfer(amount=900))

        assert str(us.one(StatusReport).settlement_date) == "2035-11-03"
        (payment,) = operator.ask("payments")
        assert payment["cycle_day"] == "2035-11-03"


class TestMoneyBack:
    def received(self, us: Participant) -> CreditTransfer:
        us.operator.ask("pay", profile=us.name, amount=5_000, end_to_end_id="MISTAKE")
        payment = us.one(CreditTransfer)
        us.accept(payment)
        us.fetch()
        return payment

    def test_is_asked_for_and_refused(self, us):
        payment = self.received(us)
        us.operator.ask("ask_back", end_to_end_id="MISTAKE")

        asked = us.one(ReturnRequest)
        assert asked.original_message_id == payment.message_id
        assert asked.amount == 5_000
        us.send(self.resolution(us, asked, "RJCR"))

        (kept,) = us.operator.ask("return_requests")
        assert kept["status"] == "RJCR"

    def test_is_given_back(self, us):
        payment, before = self.received(us), us.position
        us.send(self.giving_back(us, payment))

        assert us.one(StatusReport).status == ("ACTC" if us.name == "rtp" else "ACSC")
        assert before - us.position == 5_000
        first, back = us.operator.ask("payments", profile=us.name)
        assert back["returns_id"] == first["id"]

    def test_is_not_given_back_twice_by_fednow(self, operator):
        us = operator.fednow
        payment, before = self.received(us), us.position
        for _ in range(2):
            us.send(self.giving_back(us, payment))

        second = us.fetch()[1]
        assert (second.status, str(second.reason)) == ("RJCT", "AM09")
        assert before - us.position == 5_000

    def resolution(self, us, asked, status) -> Resolution:
        made = us.new_ids()
        if us.name == "rtp":
            about = {
                "request_message_id": asked.message_id,
                "request_created_at": asked.created_at,
            }
        else:
            about = {
                "original_message_id": asked.original_message_id,
                "original_message_name": asked.original_message_name,
                "original_created_at": asked.original_created_at,
                "original_instruction_id": asked.original_instruction_id,
                "original_end_to_end_id": asked.original_end_to_end_id,
            }
        return Resolution(
            message_id=made["message_id"],
            created_at=made["created_at"],
            status=status,
            case_id=asked.case_id,
            **about,
        )

    def giving_back(self, us, payment):
        made = us.new_ids()
        if us.name == "rtp":
            return us.transfer(
                amount=payment.amount,
                creditor=payment.debtor,
                returns_of=payment.end_to_end_id,
            )
        return PaymentReturn(
            message_id=made["message_id"],
            created_at=made["created_at"],
            original_message_id=payment.message_id,
            original_message_name="pacs.008.001.08",
            original_created_at=payment.created_at,
            original_instruction_id=payment.instruction_id,
            original_end_to_end_id=payment.end_to_end_id,
            original_amount=payment.amount,
            original_settlement_date=payment.settlement_date,
            amount=payment.amount,
            settlement_date=payment.settlement_date,
            debtor=payment.creditor,
            creditor=payment.debtor,
            reason=Reason(code="CUST"),
        )
