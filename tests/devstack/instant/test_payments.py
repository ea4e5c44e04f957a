"""Payments of ours: settled once, and answered as the creditor's account says."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from networks.instant.iso import writer
from networks.instant.iso.messages import (
    CreditTransfer,
    PaymentReturn,
    Rejection,
    StatusReport,
    StatusRequest,
)


def settled(we, transfer) -> list[dict[str, Any]]:
    """What the operator's record says of the payments with this end-to-end id."""
    found = we.operator.ask("payments", end_to_end_id=transfer.end_to_end_id)
    return [each for each in found if each["settled_at"] and each["direction"] == "out"]


def accepted(we) -> str:
    return "ACTC" if we.name == "rtp" else "ACSC"


def asked(we, transfer) -> StatusRequest:
    made = we.new_ids()
    return StatusRequest(
        message_id=made["message_id"],
        created_at=made["created_at"],
        original_message_id=transfer.message_id,
        original_message_name="pacs.008.001.08",
        original_created_at=transfer.created_at,
        original_instruction_id=transfer.instruction_id,
        original_end_to_end_id=transfer.end_to_end_id,
    )


class TestAPayment:
    def test_settles_and_is_answered(self, we):
        transfer, before = we.transfer(amount=12_345), we.position

        assert we.send(transfer) == (202, b"")

        report = we.one(StatusReport)
        assert report.status == accepted(we)
        assert report.original_message_id == transfer.message_id
        assert report.original_instruction_id == transfer.instruction_id
        assert report.original_end_to_end_id == transfer.end_to_end_id
        assert report.settlement_date is not None
        assert before - we.position == 12_345
        assert [each["amount"] for each in settled(we, transfer)] == [12_345]

    @pytest.mark.parametrize(
        ("account", "code"),
        [("40003", "AC03"), ("40004", "AC04"), ("40006", "AC06"), ("41004", "AM04")],
    )
    def test_is_rejected_by_the_bank(self, we, account, code):
        transfer, before = we.transfer(f"99{account}"), we.position

        we.send(transfer)

        report = we.one(StatusReport)
        assert (report.status, str(report.reason)) == ("RJCT", code)
        assert we.position == before
        assert settled(we, transfer) == []

    def test_to_a_bank_that_cannot_take_it_is_rejected(self, we):
        we.send(we.transfer("51001"))
        we.send(we.transfer("51011"))

        reasons = [str(each.reason) for each in we.fetch()]
        assert reasons == (["9912", "NOAT"] if we.name == "rtp" else ["AGNT", "AG03"])

    def test_of_more_than_the_position_is_rejected(self, we):
        before = we.position

        we.send(we.transfer(amount=before + 1))

        assert str(we.one(StatusReport).reason) == "AM04"
        assert we.position == before

    def test_to_a_bank_that_takes_no_part_is_rejected(self, we):
        transfer = we.transfer()
        elsewhere = dataclasses.replace(transfer.creditor, routing_number="999999992")

        we.send(dataclasses.replace(transfer, creditor=elsewhere))

        assert str(we.one(StatusReport).reason) == "RC04"


class TestSilence:
    def test_of_rtp_ends_with_the_repeated_message(self, shared):
        we = shared.rtp
        we.fetch()
        transfer = we.transfer("51002")
        content = we.content(transfer)
        we.post(content)
        assert we.fetch() == []

        we.post(writer.duplicate(content, we.profile))

        assert we.one(StatusReport).status == "ACTC"
        assert len(settled(we, transfer)) == 1

    def test_of_fednow_ends_with_a_question(self, shared):
        we = shared.fednow
        we.fetch()
        transfer = we.transfer("51002")
        we.send(transfer)
        we.send(asked(we, transfer))
        assert we.one(Rejection).code == "TOO_EARLY"

        shared.pass_seconds(26)
        we.send(asked(we, transfer))

        assert we.one(StatusReport).status == "ACSC"
        assert len(settled(we, transfer)) == 1

    def test_is_told_apart_from_a_payment_that_never_came(self, shared):
        we = shared.fednow
        we.fetch()
        transfer = we.transfer("51003")
        we.send(transfer)
        shared.pass_seconds(26)
        question = asked(we, transfer)
        we.send(question)

        report = we.one(StatusReport)
        assert (report.status, str(report.reason)) == ("RJCT", "NOOR")
        assert report.original_message_id == question.message_id
        assert report.original_message_name == "pacs.028.001.03"

    def test_of_a_lost_payment_ends_when_it_is_repeated(self, shared):
        we = shared.rtp
        we.fetch()
        transfer = we.transfer("51003")
        content = we.content(transfer)
        we.post(content)
        assert (we.fetch(), settled(we, transfer)) == ([], [])

        we.post(writer.duplicate(content, we.profile))

        assert we.one(StatusReport).status == "ACTC"
        assert len(settled(we, transfer)) == 1


class TestARepeatedId:
    def test_of_rtp_must_be_marked_and_the_same(self, shared):
        we = shared.rtp
        we.fetch()
        transfer = we.transfer()
        content = we.content(transfer)
        other = we.content(dataclasses.replace(transfer, amount=1))
        for each in (content, content, writer.duplicate(other, we.profile)):
            we.post(each)
        we.post(writer.duplicate(content, we.profile))

        said = [(each.status, str(each.reason)) for each in we.fetch()]
        assert said == [("ACTC", ""), ("RJCT", "DUPL"), ("RJCT", "DUPL"), ("ACTC", "")]
        assert len(settled(we, transfer)) == 1

    def test_of_fednow_is_refused(self, shared):
        we = shared.fednow
        we.fetch()
        transfer = we.transfer()
        we.send(transfer)
        we.send(transfer)

        report, rejection = we.fetch()
        assert report.status == "ACSC"
        assert (rejection.reference, rejection.code) == (transfer.message_id, "DUPLICATE")
        assert len(settled(we, transfer)) == 1


class TestWhatBanksDo:
    def test_post_later(self, we):
        we.send(we.transfer("51004"))
        assert we.one(StatusReport).status == "ACWP"

        we.operator.pass_seconds(4)

        assert we.one(StatusReport).status == ("ACTC" if we.name == "rtp" else "ACCC")

    def test_send_money_back_that_they_had_accepted(self, we):
        transfer, before = we.transfer("51005", 700), we.position
        we.send(transfer)
        assert we.one(StatusReport).status == "ACWP"
        assert before - we.position == 700
        we.operator.pass_seconds(4)

        report, back = we.fetch()

        assert (report.status, str(report.reason)) == ("RJCT", "AC04")
        assert back.amount == 700
        if we.name == "rtp":
            assert isinstance(back, CreditTransfer)
            assert back.returns_of == transfer.end_to_end_id
            we.accept(back)
            assert we.one(StatusReport).status == "ACTC"
        else:
            assert isinstance(back, PaymentReturn)
            assert back.original_message_id == transfer.message_id
        assert we.position == before

    def test_answer_late(self, we):
        we.send(we.transfer("51006"))
        assert we.fetch() == []

        we.operator.pass_seconds(41)

        assert we.one(StatusReport).status == accepted(we)

    def test_answer_twice(self, we):
        we.send(we.transfer("51007"))

        first, second = we.fetch()
        assert first == second

    def test_reject_the_first_attempt_for_a_time_out(self, we):
        transfer = we.transfer("51008")
        we.send(transfer)
        report = we.one(StatusReport)
        assert (report.status, str(report.reason)) == (
            "RJCT",
            "DS24" if we.name == "rtp" else "E997",
        )

        again = dataclasses.replace(transfer, message_id=we.new_ids()["message_id"])
        we.send(again)

        assert we.one(StatusReport).status == accepted(we)
        assert len(settled(we, transfer)) == 1

    def test_break_the_line_before_they_answer(self, we):
        transfer = we.transfer("51009")

        with pytest.raises(ConnectionError):
            we.send(transfer)

        assert we.one(StatusReport).status == accepted(we)
        assert len(settled(we, transfer)) == 1

    def test_answer_out_of_order(self, we):
        we.send(we.transfer("51010"))

        statuses = [each.status for each in we.fetch()]
        assert statuses == (["ACTC", "ACWP"] if we.name == "rtp" else ["ACCC", "ACWP"])
