"""A statement's heading out of the parts that come before its entries."""

from __future__ import annotations

from datetime import date

from networks.bank_statements.amounts import CURRENCY
from networks.bank_statements.camt.amounts import Money, Unreadable, money, signed
from networks.bank_statements.camt.facts import Facts
from networks.bank_statements.items import Account, Heading, Purpose
from networks.bank_statements.judging import Stated

PURPOSES = {
    "052": Purpose.REPORT,
    "053": Purpose.STATEMENT,
    "054": Purpose.NOTIFICATION,
}
# Booked balances, the first that is there counts: opening, or the closing before; closing, or in a
# report the balance so far.
_OPENING = ("OPBD", "PRCD")
_CLOSING = ("CLBD",)
_SO_FAR = ("CLBD", "ITBD")
_BALANCES = frozenset((*_OPENING, *_SO_FAR))
_DIGITS_MAX = 18
_ONCE = frozenset(
    (
        *("Id", "StmtPgntn", "RptPgntn", "NtfctnPgntn", "ElctrncSeqNb", "LglSeqNb", "CreDtTm"),
        *("FrToDt", "CpyDplctInd", "Acct", "TxsSummry"),
    )
)
READ = _ONCE | {"Bal"}  # the parts that say something here; all stand before the entries
_BANK_IDS = ("ClrSysMmbId/MmbId", "BICFI", "BIC", "Othr/Id")  # routing number, BIC, its own


class Parts:
    """The parts of a statement as they come. `codes` name what is wrong with them."""

    def __init__(self, message: str) -> None:
        self.codes: list[str] = []
        self._purpose = PURPOSES[message]
        self._id = ""
        self._account: Account | None = None
        self._currency = ""
        self._numbers: dict[str, int] = {}
        self._created: date | None = None
        self._from: date | None = None
        self._to: date | None = None
        self._balances: dict[str, tuple[int, date | None]] = {}  # cents, and of which day
        self._known: set[str] = set()
        self._stated: dict[str, int] = {}

    def take(self, name: str, facts: Facts) -> None:
        """One part, by its name in the message. Those that say nothing here are passed over."""
        try:
            if name in _ONCE and name in self._known:
                raise Unreadable("part_misplaced")
            self._known.add(name)
            self._take(name, facts)
        except Unreadable as unreadable:
            self.codes.append(unreadable.code)
        except ValueError:
            self.codes.append("date_invalid")

    def heading(self, *, number: int, position: int, form: str, file_id: str) -> Heading | None:
        """The heading, or None where it cannot be used: then `codes` say why."""
        is_statement = self._purpose is Purpose.STATEMENT
        opening, _ = self._first(_OPENING)
        closing, closed = self._first(_CLOSING if is_statement else _SO_FAR)
        day = closed or self._to or self._created
        if not self._id:
            self.codes.append("statement_id_missing")
        if self._account is None:
            self.codes.append("account_missing")
        if day is None:
            self.codes.append("date_invalid")
        if self.currency != CURRENCY:
            self.codes.append("currency_unsupported")
        # The closing balance of the period before is the opening balance of this one.
        if len({self._balances[code][0] for code in _OPENING if code in self._balances}) > 1:
            self.codes.append("balance_repeated")
        if not (self._id and self._account and day) or self.currency != CURRENCY:
            return None
        return Heading(
            number=number,
            position=position,
            format=form,
            purpose=self._purpose,
            account=self._account,
            currency=self.currency,
            file_id=file_id,
            id=self._id,
            sequence=self._numbers.get("ElctrncSeqNb"),
            legal_sequence=self._numbers.get("LglSeqNb"),
            from_date=self._from,
            to_date=day,
            opening=opening,
            closing=closing,
        )

    @property
    def currency(self) -> str:
        """That of the account, or else of its balances."""
        return self._currency or CURRENCY

    def stated(self) -> Stated:
        """What the statement says of its entries as a whole."""
        return Stated(**self._stated)

    def _take(self, name: str, facts: Facts) -> None:
        match name:
            case "Id":
                self._id = facts.text()
            case "CreDtTm":
                self._created = facts.day("")
            case "FrToDt":
                self._span(facts)
            case "Acct":
                self._take_account(facts)
            case "Bal":
                self._balance(facts)
            case "TxsSummry":
                self._summary(facts)
            case _:
                self._take_mark(name, facts)

    def _take_mark(self, name: str, facts: Facts) -> None:
        """What says which statement this is among others."""
        match name:
            case "ElctrncSeqNb" | "LglSeqNb":
                self._numbers[name] = _number(facts.text())
            case "StmtPgntn" | "RptPgntn" | "NtfctnPgntn":
                is_last = facts.text("LastPgInd") not in ("false", "0")
                if not is_last or facts.text("PgNb").lstrip("0") not in ("", "1"):
                    raise Unreadable("pages_unsupported")
            case "CpyDplctInd":
                self.codes.append("copy")

    def _span(self, facts: Facts) -> None:
        self._from = facts.day("FrDtTm") or facts.day("FrDt")
        self._to = facts.day("ToDtTm") or facts.day("ToDt")

    def _take_account(self, facts: Facts) -> None:
        number = facts.first("Id/IBAN", "Id/Othr/Id")
        self._currency = facts.text("Ccy") or self._currency
        if number:
            bank = facts.first(*(f"Svcr/FinInstnId/{way}" for way in _BANK_IDS))
            self._account = Account(number=number, bank=bank)

    def _balance(self, facts: Facts) -> None:
        code = facts.text("Tp/CdOrPrtry/Cd")
        if code not in _BALANCES:
            return
        found = signed(facts)
        self._require_currency(found)
        said = found.cents, facts.day("Dt")
        if self._balances.setdefault(code, said) != said:
            raise Unreadable("balance_repeated")

    def _require_currency(self, found: Money) -> None:
        self._currency = self._currency or found.currency
        if found.currency != self._currency:
            raise Unreadable("currency_differs")

    def _summary(self, facts: Facts) -> None:
        for part, total, count in (
            ("TtlNtries", "entries", "entry_count"),
            ("TtlCdtNtries", "credits", "credit_count"),
            ("TtlDbtNtries", "debits", "debit_count"),
        ):
            if facts.text(f"{part}/Sum"):
                self._stated[total] = money(facts, f"{part}/Sum").cents
            if number := facts.text(f"{part}/NbOfNtries"):
                self._stated[count] = _number(number)

    def _first(self, codes: tuple[str, ...]) -> tuple[int | None, date | None]:
        """Cents and day of the first of these balances that is there."""
        found = (self._balances[code] for code in codes if code in self._balances)
        return next(found, (None, None))


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= _DIGITS_MAX):
        raise Unreadable("number_invalid")
    return int(text)
