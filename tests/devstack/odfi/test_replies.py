"""What the bank makes of the customer's answers: dishonors, refusals, reversals, new attempts."""

from __future__ import annotations

import pytest

from tests.devstack.odfi.paper import (
    Batch,
    Entry,
    File,
    answers,
    dishonored,
    refused_change,
)


def sent(bank, *entries, **batch):
    """Send one file with a batch of entries; gives its acknowledgement."""
    found = bank.send(File([Batch(list(entries), **batch)]).bytes())
    assert found[0]["verdict"] != "rejected"
    return found


def said(bank):
    return [answer for content in bank.fetch().values() for answer in answers(content)]


def warnings(acknowledged):
    return [each["warning"] for each in acknowledged if each["type"] == "entry"]


class TestDishonors:
    def test_bring_the_money_back(self, bank):
        sent(bank, Entry("10001", 800))
        bank.days(2)
        (answer,) = said(bank)
        before = bank.balance
        sent(bank, dishonored("R68", answer))
        bank.days(5)

        assert said(bank) == []
        assert (before, bank.balance) == (100_000_000, 100_000_800)
        assert bank.entries()[0]["answers"][0]["dishonored"] == "R68"

    @pytest.mark.parametrize(
        ("account", "code", "contest"),
        [
            ("11001", "R61", "R71"),
            ("11001", "R62", "R77"),
            ("11001", "R67", "R75"),
            ("11001", "R68", "R73"),
            ("11001", "R69", "R76"),
            ("11001", "R70", "R76"),
        ],
    )
    def test_are_contested(self, shared, account, code, contest):
        entry = Entry(account, 800)
        sent(shared, entry)
        shared.days(2)
        (answer,) = said(shared)
        before = shared.balance
        reply = dishonored(code, answer)
        sent(shared, reply)
        shared.days(1)
        between = shared.balance
        shared.days(2)

        (contested,) = said(shared)
        assert (contested.code, contested.original_trace) == (contest, entry.trace)
        assert contested.addenda[38:53] == answer.trace
        assert contested.addenda[53:58] == answer.settled + "01"
        assert contested.addenda[58:73] == reply.trace
        assert contested.addenda[76:78] == code[1:]
        assert (between - before, shared.balance - before) == (800, 0)

    def test_are_contested_after_a_late_return(self, bank):
        bank.ask("terms", late_return_days=4)
        sent(bank, Entry("21001", 800))
        bank.days(6)
        (answer,) = said(bank)
        sent(bank, dishonored("R68", answer))
        bank.days(4)

        assert [each.code for each in said(bank)] == ["R73"]
        assert bank.balance == 100_000_000

    def test_are_contested_when_they_come_late(self, bank):
        sent(bank, Entry("10001", 800))
        bank.days(2)
        (answer,) = said(bank)
        bank.days(5)
        sent(bank, dishonored("R68", answer))
        bank.days(4)

        assert [each.code for each in said(bank)] == ["R72"]
        assert bank.balance == 100_000_000

    def test_of_wrong_fields_bring_the_right_ones(self, bank):
        entry = Entry("13001", 800)
        sent(bank, entry)
        bank.days(2)
        (answer,) = said(bank)
        sent(bank, dishonored("R69", answer))
        bank.days(4)

        (corrected,) = said(bank)
        assert (corrected.code, corrected.amount) == ("R74", 800)
        assert corrected.original_trace == entry.trace
        assert bank.balance == 100_000_000

    def test_of_nothing_are_refused(self, bank):
        sent(bank, Entry("10001", 800))
        bank.days(2)
        (answer,) = said(bank)
        reply = dishonored("R68", answer)
        reply.addenda = [reply.addenda[0].replace(answer.trace, "021000029999999")]
        acknowledged = sent(bank, reply)
        bank.days(4)

        (line,) = [each for each in acknowledged if each["type"] == "entry"]
        assert (line["status"], line["code"], line["warning"]) == (
            "rejected",
            "R27",
            "unknown_return",
        )
        assert bank.balance == 100_000_000


class TestRefusedChanges:
    def test_end_there(self, bank):
        sent(bank, Entry("60001"))
        bank.days(2)
        (answer,) = said(bank)
        acknowledged = sent(bank, refused_change("C65", answer), sec="COR")
        bank.days(6)

        assert acknowledged[0]["verdict"] == "accepted"
        assert said(bank) == []
        assert bank.entries()[0]["answers"][0]["dishonored"] == "C65"

    def test_of_impossible_data_bring_the_right_data(self, bank):
        entry = Entry("62002")
        sent(bank, entry)
        bank.days(2)
        (answer,) = said(bank)
        sent(bank, refused_change("C65", answer), sec="COR")
        bank.days(5)

        (again,) = said(bank)
        assert (again.code, again.original_trace) == ("C02", entry.trace)
        assert again.addenda[35:44] == "091000019"

    def test_of_nothing_are_refused(self, bank):
        sent(bank, Entry("60001"))
        bank.days(2)
        (answer,) = said(bank)
        reply = refused_change("C65", answer)
        reply.addenda = [reply.addenda[0].replace(answer.original_trace, "1" * 15)]

        assert warnings(sent(bank, reply, sec="COR")) == ["unknown_change"]


class TestReturnedCredits:
    def test_take_the_money_away_again(self, bank):
        bank.ask("credit", amount=900)
        (credit,) = said(bank)
        back = Entry(code="21", account="4000123456", amount=900)
        back.addenda = [f"799R23{credit.trace}{'':6}{credit.trace[:8]}{'':44}{back.trace}"]
        sent(bank, back, service_class="220")
        bank.days(2)

        assert bank.balance == 100_000_000
        assert bank.ask("received")[0]["dishonored"] == "R23"


class TestReversals:
    def test_give_the_money_back(self, bank):
        sent(bank, Entry("555", 300))
        bank.days(2)
        found = sent(bank, Entry("555", 300, "22"), service_class="220", description="REVERSAL")
        bank.days(3)

        assert warnings(found) == []
        assert said(bank) == []
        assert bank.balance == 100_000_000

    @pytest.mark.parametrize(
        ("amount", "days", "warning"),
        [(301, 2, "reversal_without_original"), (300, 7, "reversal_too_late")],
    )
    @pytest.mark.parametrize(("sec", "code"), [("CCD", "R17"), ("PPD", "R11")])
    def test_that_are_improper_come_back(self, bank, amount, days, warning, sec, code):
        sent(bank, Entry("555", 300), sec=sec)
        bank.days(days)
        reversal = Entry("555", amount, "22")
        found = sent(bank, reversal, sec=sec, service_class="220", description="REVERSAL")
        bank.days(3)

        assert warnings(found) == [warning]
        assert [(each.code, each.original_trace) for each in said(bank)] == [(code, reversal.trace)]
        assert bank.balance == 100_000_300


class TestNewAttempts:
    def test_may_complete(self, bank):
        sent(bank, Entry("16001", 300))
        bank.days(2)
        found = sent(bank, Entry("16001", 300), description="RETRY PYMT")
        bank.days(3)

        assert warnings(found) == []
        assert bank.balance == 100_000_300

    def test_may_come_back_again_but_not_a_third_time(self, bank):
        sent(bank, Entry("10001", 300))
        found = []
        for _ in range(3):
            bank.days(2)
            found.append(warnings(sent(bank, Entry("10001", 300), description="RETRY PYMT")))

        assert found == [[], [], ["retried_too_often"]]

    @pytest.mark.parametrize("first", ["10003", "555"])
    def test_need_a_return_that_allows_them(self, bank, first):
        sent(bank, Entry(first, 300))
        bank.days(2)

        found = sent(bank, Entry(first, 300), description="RETRY PYMT")

        assert warnings(found) == ["retry_without_original"]

    def test_end_after_half_a_year(self, bank):
        sent(bank, Entry("10001", 300))
        bank.days(2)
        bank.ask("clock", seconds=181 * 86_400)

        found = sent(bank, Entry("10001", 300), description="RETRY PYMT")

        assert warnings(found) == ["retried_too_late"]


class TestVerifications:
    def test_of_a_dollar_are_remarked(self, bank):
        found = sent(bank, Entry("555", 100, "22"), service_class="220", description="ACCTVERIFY")

        assert warnings(found) == ["micro_deposit_too_large"]
