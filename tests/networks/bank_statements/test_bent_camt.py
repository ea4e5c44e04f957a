"""Messages of camt.053 whose sums fit, and that still do not say what a statement says."""

from __future__ import annotations

from datetime import date

import pytest

from tests.networks.bank_statements.reading import CAMT, changed, faults, headings

_PAGES = "<StmtPgntn><PgNb>{}</PgNb><LastPgInd>true</LastPgInd></StmtPgntn><ElctrncSeqNb>"
_BALANCE = (
    "<Bal><Tp><CdOrPrtry><Cd>{}</Cd></CdOrPrtry></Tp><Amt Ccy='USD'>{}</Amt>"
    "<CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>{}</Dt></Dt></Bal>"
)
_ACCOUNT = "<Acct><Id><Othr><Id>0123456789</Id></Othr></Id><Ccy>{}</Ccy></Acct>"


def with_balance(code, amount, day):
    """Before the balances that the message has."""
    return changed(CAMT, ("<Bal>", _BALANCE.format(code, amount, day) + "<Bal>"))


def before_the_third_entry(part):
    return changed(CAMT, ('<Ntry><Amt Ccy="USD">0.50', part + '<Ntry><Amt Ccy="USD">0.50'))


class TestPages:
    def test_the_last_one_of_several_is_no_statement(self):
        content = changed(CAMT, ("<ElctrncSeqNb>", _PAGES.format(2)))

        assert faults(content) == [(0, "pages_unsupported")]

    @pytest.mark.parametrize("number", ["1", "00001"])
    def test_the_only_one_is(self, number):
        content = changed(CAMT, ("<ElctrncSeqNb>", _PAGES.format(number)))

        assert faults(content) == []


class TestBalances:
    def test_an_interim_one_says_nothing_of_the_day_that_is_closed(self):
        (heading,) = headings(with_balance("ITBD", "1.00", "2026-11-26"))

        assert heading.to_date == date(2026, 11, 27)

    @pytest.mark.parametrize(
        ("code", "amount", "day"),
        [
            ("CLBD", "1069.50", "2026-11-26"),
            ("CLBD", "1069.51", "2026-11-27"),
            ("OPBD", "1000.00", "2026-11-26"),
            ("PRCD", "1000.01", "2026-11-26"),
        ],
        ids=["day", "closing", "opening-day", "closing-before"],
    )
    def test_two_of_one_kind_that_differ(self, code, amount, day):
        assert faults(with_balance(code, amount, day)) == [(0, "balance_repeated")]

    def test_the_closing_before_is_the_opening(self):
        assert faults(with_balance("PRCD", "1000.00", "2026-11-26")) == []


class TestParts:
    @pytest.mark.parametrize(
        "part",
        [_ACCOUNT.format("EUR"), _BALANCE.format("CLBD", "1.00", "2026-11-27"), "<Id>S2</Id>"],
        ids=["account", "balance", "id"],
    )
    def test_that_come_behind_an_entry(self, part):
        assert faults(before_the_third_entry(part)) == [(2, "part_misplaced")]

    @pytest.mark.parametrize("part", [_ACCOUNT.format("USD"), "<Id>S2</Id>"], ids=["account", "id"])
    def test_that_come_twice(self, part):
        content = changed(CAMT, ("<Bal>", part + "<Bal>"))

        assert faults(content) == [(0, "part_misplaced")]

    def test_further_information_may_come_last(self):
        content = changed(CAMT, ("</Stmt>", "<AddtlStmtInf>BYE</AddtlStmtInf></Stmt>"))

        assert faults(content) == []


class TestDays:
    def test_the_first_after_the_last(self):
        content = changed(CAMT, ("<FrDtTm>2026-11-27", "<FrDtTm>2026-11-28"))

        assert faults(content) == [(0, "dates_reversed")]


class TestCodes:
    """They are kept in columns."""

    def test_of_an_entry_are_no_texts(self):
        content = changed(CAMT, ("<Cd>698</Cd><Issr>BAI</Issr>", f"<Cd>{'X' * 41}</Cd>"))

        assert faults(content) == [(3, "code_long")]

    def test_of_a_return_are_no_texts(self):
        content = changed(CAMT, ("<Cd>R01</Cd>", f"<Prtry>{'X' * 41}</Prtry>"))

        assert faults(content) == [(2, "code_long")]


def test_sums_that_no_database_keeps():
    """Every amount is one that there may be, and the balances fit."""
    amount, entries = "9999999999999.99", 9_300
    one = CAMT[CAMT.index('<Ntry><Amt Ccy="USD">0.50') : CAMT.index("</Stmt>")]
    out = one.replace("0.50", amount)
    back = out.replace("DBIT", "CRDT")
    head = CAMT[: CAMT.index("<TxsSummry>")].replace("1069.5<", "1000.00<")
    tail = CAMT[CAMT.index("</Stmt>") :]

    assert faults(head + (out + back) * entries + tail) == [(2 * entries, "amount_invalid")]
