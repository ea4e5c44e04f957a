"""Requests for payment of ours, and payments to us."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest

from devstack.instant import client
from networks.instant.iso.messages import (
    CreditTransfer,
    Reason,
    RequestAnswer,
    StatusReport,
)
from tests.devstack.instant.conftest import Participant


def first_answers(we) -> list[str]:
    """What is told of every request at once."""
    return [] if we.name == "rtp" else ["RCVD"]


def statuses(messages) -> list[str]:
    return [each.status for each in messages if isinstance(each, RequestAnswer)]


def payments(messages) -> list[CreditTransfer]:
    return [each for each in messages if isinstance(each, CreditTransfer)]


def state_of(we, request) -> str:
    (found,) = we.operator.ask("requests", end_to_end_id=request.end_to_end_id)
    return str(found["status"])


class TestARequest:
    def test_waits_for_its_payer_and_is_paid(self, we):
        request, before = we.request(amount=4_200), we.position
        assert we.send(request)[0] == 202
        assert statuses(we.fetch()) == first_answers(we)
        assert state_of(we, request) == "waiting"

        we.operator.ask("answer_request", end_to_end_id=request.end_to_end_id)

        answer, payment = we.fetch()
        assert isinstance(answer, RequestAnswer)
        assert (answer.status, answer.original_message_id) == ("ACTC", request.message_id)
        assert answer.original_instruction_id == request.instruction_id
        assert (payment.end_to_end_id, payment.amount) == (request.end_to_end_id, 4_200)
        assert payment.creditor == request.creditor
        assert payment.debtor == request.debtor
        assert we.position == before, "nothing moves before we answer"

        we.accept(payment)

        advice = we.one(StatusReport)
        assert advice.original_message_id == payment.message_id
        assert advice.status == ("ACTC" if we.name == "rtp" else "ACSC")
        assert we.position - before == 4_200
        assert state_of(we, request) == "paid"

    def test_is_refused_by_its_payer(self, we):
        request = we.request()
        we.send(request)
        we.operator.ask("answer_request", end_to_end_id=request.end_to_end_id, approve=False)

        answer = we.fetch()[-1]
        assert (answer.status, str(answer.reason)) == ("RJCT", "CUST")
        with pytest.raises(client.ControlError, match="refused"):
            we.operator.ask("answer_request", end_to_end_id=request.end_to_end_id)

    def test_cannot_be_approved_after_its_expiry(self, we):
        request = we.request(expires_at=we.now() + timedelta(seconds=60))
        we.send(request)
        we.fetch()
        we.operator.pass_seconds(61)

        with pytest.raises(client.ControlError, match="expired"):
            we.operator.ask("answer_request", end_to_end_id=request.end_to_end_id)
        assert we.fetch() == []

    def test_does_not_reach_a_bank_that_takes_none(self, we):
        request = we.request()
        bank = dataclasses.replace(request.debtor, routing_number="122105155")
        unknown = dataclasses.replace(request.debtor, routing_number="999999992")
        for debtor in (bank, unknown):
            message_id = we.new_ids()["message_id"]
            we.send(dataclasses.replace(request, message_id=message_id, debtor=debtor))

        reports = we.fetch()
        no_support = "NOAT" if we.name == "rtp" else "AG03"
        assert [str(each.reason) for each in reports] == [no_support, "RC03"]
        assert {each.original_message_name for each in reports} == {"pain.013.001.07"}


class TestPayers:
    def test_pay_at_once(self, we):
        we.send(we.request("52001"))

        messages = we.fetch()
        assert statuses(messages) == [*first_answers(we), "ACTC"]
        assert len(payments(messages)) == 1

    def test_pay_another_amount(self, we):
        we.send(we.request("52002", amount=500))

        (payment,) = payments(we.fetch())
        assert payment.amount == 499

    def test_pay_twice(self, we):
        request = we.request("52003")
        we.send(request)

        first, second = payments(we.fetch())
        assert first.message_id != second.message_id
        assert {first.end_to_end_id, second.end_to_end_id} == {request.end_to_end_id}

    def test_pay_after_the_expiry(self, we):
        request = we.request("52004", expires_at=we.now() + timedelta(seconds=30))
        we.send(request)
        messages = we.fetch()
        assert statuses(messages) == [*first_answers(we), "ACTC"]
        assert payments(messages) == []

        we.operator.pass_seconds(32)

        assert we.one(CreditTransfer).created_at > request.expires_at

    def test_pay_without_an_answer(self, we):
        we.send(we.request("52005"))

        assert len(payments([we.one(CreditTransfer)])) == 1

    def test_refuse_at_once(self, we):
        we.send(we.request("52006"))

        answer = we.fetch()[-1]
        assert (answer.status, str(answer.reason)) == ("RJCT", "CUST")

    def test_say_nothing(self, we):
        we.send(we.request("52007"))

        assert we.fetch() == []

    def test_pay_to_another_account(self, we):
        request = we.request("52008")
        we.send(request)

        (payment,) = payments(we.fetch())
        assert payment.creditor.account_number != request.creditor.account_number


class TestAPaymentToUs:
    def paid(self, we: Participant, **about) -> CreditTransfer:
        we.operator.ask("pay", profile=we.name, **about)
        return we.one(CreditTransfer)

    def test_that_we_refuse_moves_nothing(self, we):
        before, payment = we.position, self.paid(we, amount=900)
        we.accept(payment, "RJCT", Reason(code="AC03"))

        report = we.one(StatusReport)
        assert (report.status, str(report.reason)) == ("RJCT", "AC03")
        assert we.position == before

    def test_that_we_do_not_answer_is_over(self, we):
        before, payment = we.position, self.paid(we, amount=900)
        we.operator.pass_seconds(21)

        report = we.one(StatusReport)
        timed_out = "DS24" if we.name == "rtp" else "E997"
        assert (report.status, str(report.reason)) == ("RJCT", timed_out)

        we.accept(payment)

        assert we.one(StatusReport).status == "RJCT"
        assert we.position == before

    def test_settles_once_however_often_we_answer(self, we):
        before, payment = we.position, self.paid(we, amount=900)
        we.accept(payment)
        we.accept(payment)

        assert len({each.status for each in we.fetch()}) == 1
        assert we.position - before == 900
