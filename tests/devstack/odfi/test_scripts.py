"""What an account's last digits bring about, and when. The bank's first day is Monday,
2035-12-03; what it gets before 10:15 is processed on that day and settles on the next."""

from __future__ import annotations

import pytest

from devstack.odfi import scripts
from networks import return_codes
from networks.base import Method
from networks.sandbox import scripts as sandbox
from tests.devstack.odfi.paper import Answer, Batch, Entry, File, answers

OPENING = "13:30:00"


def sent(bank, *entries, **batch):
    """Send one file with a batch of entries."""
    assert bank.send(File([Batch(list(entries), **batch)]).bytes())[0]["verdict"] != "rejected"


def said(bank, start="") -> dict[str, list[Answer]]:
    """What came, by the label of the file."""
    found: dict[str, list[Answer]] = {}
    for name, content in bank.fetch(start=start).items():
        found.setdefault(name.split("_")[0], []).extend(answers(content))
    return found


class TestReturns:
    def test_of_every_code_come_on_the_day_after_settlement(self, bank):
        returns = filter(return_codes.is_ach_return, return_codes.ALL)
        codes = sorted(code for code in returns if not is_dishonor(code))
        entries = [
            Entry(account=f"98100{code[1:]}", amount=100 + n) for n, code in enumerate(codes)
        ]
        sent(bank, *entries)

        bank.go_to("2035-12-04 08:29")
        by_operator = said(bank)["returns"]
        bank.go_to("2035-12-05 08:29")
        assert said(bank) == {}
        bank.go_to("2035-12-05 08:31")
        by_bank = said(bank)["returns"]

        returned = {each.original_trace: (each.code, each.amount) for each in by_operator + by_bank}
        assert returned == {
            entry.trace: (code, entry.amount) for entry, code in zip(entries, codes, strict=True)
        }
        operators = {f"R{number:02}" for number in scripts.OPERATOR_CODES}
        assert {each.code for each in by_operator} == operators
        assert {each.settled for each in by_operator} == {"338"}
        assert {each.settled for each in by_bank} == {"339"}
        assert bank.balance == 100_000_000

    def test_repeat_the_entry(self, bank):
        entry = Entry("10001", 700, individual_id="INV 9", name="ANN LEE", discretionary="S")
        sent(bank, entry, sec="WEB")
        bank.days(3)

        (answer,) = said(bank)["returns"]

        head = f"626{'124000313'}{'10001':<17}{700:010}{'INV 9':<15}{'ANN LEE':<22}S 1"
        assert answer.entry == head + answer.trace
        assert answer.trace.startswith("02100002")
        assert answer.addenda == f"799R01{entry.trace}{'':6}02100002{'':44}{answer.trace}"
        assert answer.header[50:63] == "WEBTOPUP     "
        assert answer.header[78:87] == "102100002"

    def test_give_the_day_of_death(self, bank):
        sent(bank, Entry("10015"), sec="PPD")
        bank.days(3)

        assert said(bank)["returns"][0].addenda[21:27] == "351204"

    def test_of_payments_bring_the_money_back(self, bank):
        sent(bank, Entry("10003", 900, "22"), Entry("10020", 100, "32"), service_class="220")
        bank.go_to("2035-12-04 12:00")
        before = bank.balance
        bank.days(2)

        assert [each.entry[1:3] for each in said(bank)["returns"]] == ["21", "31"]
        assert (before, bank.balance) == (99_999_000, 100_000_000)

    def test_come_late_after_sixty_days(self, bank):
        sent(bank, Entry("20010", 400), sec="PPD")
        bank.go_to("2036-02-04 08:29")  # the banking day after Saturday, 2036-02-02
        assert said(bank, "returns") == {}
        assert bank.balance == 100_000_400
        bank.go_to("2036-02-04 08:31")

        (answer,) = said(bank, "returns")["returns"]
        assert (answer.code, answer.settled) == ("R10", "035")
        assert bank.balance == 100_000_000
        assert bank.entries()[0]["status"] == "returned"

    def test_come_late_as_soon_as_agreed(self, bank):
        bank.ask("terms", late_return_days=4)
        sent(bank, Entry("20001"))
        bank.go_to("2035-12-10 09:00")

        assert [each.settled for each in said(bank)["returns"]] == ["344"]

    def test_may_be_wrong(self, bank):
        short, unknown, twice = (Entry(account, 500) for account in ("13001", "14001", "12001"))
        sent(bank, short, unknown, twice)
        bank.days(4)

        first, second, third, again = said(bank)["returns"]
        assert (first.original_trace, first.amount) == (short.trace, 499)
        assert second.original_trace == "124000319999999"
        assert {third.original_trace, again.original_trace} == {twice.trace}
        assert (third.settled, again.settled) == ("339", "340")
        assert third.trace != again.trace
        assert bank.balance == 100_000_000 + 1 - 500

    def test_of_prenotes_move_nothing(self, bank):
        sent(
            bank,
            Entry("10003", 0, "28"),
            Entry("777", 0, "28"),
            Entry("10004", 0, "23"),
            service_class="200",
        )
        bank.days(3)

        assert [(each.code, each.entry[1:3]) for each in said(bank)["returns"]] == [
            ("R03", "26"),
            ("R04", "21"),
        ]
        assert [each["status"] for each in bank.entries()] == ["returned", "settled", "returned"]
        assert bank.ask("postings") == []


def is_dishonor(code: str) -> bool:
    return 61 <= int(code[1:]) <= 77


class TestTheSandboxNumbers:
    """They mean here what they mean at the bank that needs no files."""

    @pytest.mark.parametrize("number", [*range(100), *range(100, 200)])
    def test_return_the_same_codes(self, number):
        account = f"{1 + number // 100}00{number % 100:02}"
        there = [step.code for step in sandbox.steps_for(Method.ACH_DEBIT, account) if step.code]
        here = scripts.script_of(account, "TOPUP")

        if there and is_dishonor(there[0]):  # no first answer of a bank
            assert here is scripts.COMPLETES
        else:
            assert ([here.code] if here.code else []) == there

    @pytest.mark.parametrize("account", ["40003", "41004", "50000", "50001", "10048", "30002", "1"])
    def test_complete(self, account):
        assert scripts.script_of(account, "TOPUP") is scripts.COMPLETES

    def test_hold_an_entry(self, bank):
        entry, other = Entry(sandbox.STAYS_PENDING), Entry(amount=5)
        acknowledged = bank.send(File([Batch([entry, other])]).bytes())
        bank.days(10)

        (line,) = [each for each in acknowledged if each["type"] == "entry"]
        assert (line["status"], line["code"], line["trace"]) == ("held", "", entry.trace)
        assert [each["status"] for each in bank.entries()] == ["held", "settled"]
        assert bank.balance == 100_000_005

    def test_return_micro_deposits_one_by_one(self, bank):
        account = sandbox.MICRO_DEPOSITS_RETURNED
        credits = Batch(
            [Entry(account, 11, "22"), Entry(account, 22, "22")],
            service_class="220",
            description="ACCTVERIFY",
        )
        debit = Batch([Entry(account, 33)], description="ACCTVERIFY")
        topup = Batch([Entry(account, 1000)])
        bank.send(File([credits, debit, topup]).bytes())
        bank.days(3)

        found = said(bank)["returns"]
        assert [(each.code, each.amount) for each in found] == [
            ("R03", 11),
            ("R03", 22),
            ("R03", 33),
        ]
        assert bank.balance == 100_001_000

    def test_let_micro_deposits_arrive(self, bank):
        account = sandbox.MICRO_DEPOSITS_ARRIVE
        sent(bank, Entry(account, 11, "22"), service_class="220", description="ACCTVERIFY")
        bank.days(3)

        assert said(bank) == {}
        assert bank.balance == 99_999_989


class TestChanges:
    @pytest.mark.parametrize(
        ("account", "code", "corrected"),
        [
            ("9960001", "C01", "9970001"),
            ("9960002", "C02", "091000019"),
            ("9960003", "C03", "091000019   9970003"),
            ("9960004", "C04", "CORRECTED NAME"),
            ("9960005", "C05", "37"),
            ("9960006", "C06", f"{'9970006':<17}   37"),
            ("9960007", "C07", f"091000019{'9970007':<17}37"),
            ("9960009", "C09", "CORRECTED ID"),
            ("9960013", "C13", ""),
            ("9960014", "C14", "IAT"),
            ("9961003", "C03", "091000019 9971003"),
            ("9961001", "C01", " 9971001"),
            ("9962002", "C02", "123456789"),
            ("9962005", "C05", "99"),
        ],
    )
    def test_say_what_is_right(self, shared, account, code, corrected):
        entry = Entry(account)
        sent(shared, entry)
        shared.days(2)

        found = said(shared)["changes"]

        (answer,) = [each for each in found if each.original_trace == entry.trace]
        assert answer.code == code
        assert answer.addenda[35:64] == corrected.ljust(29)
        assert answer.addenda[27:35] == "02100002"
        assert (answer.amount, answer.entry[1:3], answer.header[50:53]) == (0, "26", "COR")
        assert answer.entry[12:29].strip() == account
        held = shared.entries(trace=entry.trace)[-1]
        assert held["status"] == "settled"

    def test_lead_to_an_account_that_completes(self):
        assert scripts.script_of("9970001", "TOPUP") is scripts.COMPLETES


class TestCredits:
    def test_come_from_a_holder_who_sends_the_amount_back(self, bank):
        sent(bank, Entry("71000", 4_200))
        bank.days(3)

        ((answer,),) = said(bank).values()
        assert answer.entry[1:3] == "22"
        assert answer.entry[12:29].strip() == "4000123456"
        assert (answer.amount, answer.header[4:20].strip()) == (4_200, "ACCOUNT HOLDER")
        assert bank.balance == 100_008_400

    def test_come_from_strangers(self, bank):
        bank.ask("credit", amount=555, company="AUNT MAY", individual_id="BAL-123")
        found = said(bank)

        ((answer,),) = found.values()
        assert list(found) == ["credits"]
        assert (answer.amount, answer.entry[39:54].strip()) == (555, "BAL-123")
        assert bank.balance == 100_000_555
        assert [each["amount"] for each in bank.ask("received")] == [555]


class TestByHand:
    def test_returns_with_codes_that_nobody_knows(self, bank):
        entry = Entry(amount=600)
        sent(bank, entry)
        bank.days(2)
        bank.ask("send_back", trace=entry.trace, code="R97")

        (answer,) = said(bank)["returns"]
        assert (answer.code, answer.amount) == ("R97", 600)
        assert bank.balance == 100_000_000

    def test_returns_before_settlement_settle_with_it(self, bank):
        entry = Entry(amount=600)
        sent(bank, entry)
        bank.ask("send_back", trace=entry.trace, code="R01")
        (answer,) = said(bank)["returns"]
        before = bank.balance
        bank.days(2)

        assert (answer.settled, before, bank.balance) == ("338", 100_000_000, 100_000_000)

    def test_changes_with_any_data(self, bank):
        entry = Entry()
        sent(bank, entry)
        bank.ask("change", trace=entry.trace, code="C99", corrected="NONSENSE")

        (answer,) = said(bank)["changes"]
        assert (answer.code, answer.addenda[35:64].strip()) == ("C99", "NONSENSE")
