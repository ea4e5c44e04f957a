"""An entry (Ntry) as a line: its amount and dates, its code, its references, the payments in it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from networks.bank_statements.bai2 import type_codes
from networks.bank_statements.camt import codes, details
from networks.bank_statements.camt.amounts import Unreadable, sign, signed
from networks.bank_statements.camt.facts import Facts
from networks.bank_statements.identity import Draft
from networks.bank_statements.items import TEXT_LENGTH_MAX, Detail, LineKind, References

DETAILS_MAX = 100_000
_BOOKED = "BOOK"
_TRUE = frozenset(("true", "1"))
_PLAIN = frozenset((LineKind.CREDIT, LineKind.DEBIT))


class Entry:
    """An entry while it is read; `facts` fill up meanwhile. `codes` name what is wrong with it,
    faults and notes."""

    def __init__(self, facts: Facts, *, position: int, currency: str) -> None:
        self.position = position
        self.codes: list[str] = []
        self._facts = facts
        self._currency = currency
        self._details: list[Detail] = []
        self._in_group = 0
        self._batch = References()
        self._is_batch = False

    def add_detail(self, facts: Facts) -> None:
        """A payment of the entry (TxDtls)."""
        self._in_group += 1
        if len(self._details) == DETAILS_MAX:
            self._note("too_many_details")
            return
        try:
            direction = sign(self._facts)
            found = details.read(facts, entry_sign=direction, currency=self._currency)
        except Unreadable as unreadable:
            self._note(unreadable.code)
        else:
            self._details.append(self._with_text_cut(found))

    def end_details(self, facts: Facts) -> None:
        """The end of a group of payments (NtryDtls), which may state how many it has."""
        count, self._in_group = self._in_group, 0
        if not facts.has("Btch"):
            return
        self._is_batch = True
        try:
            self._batch = References(
                file=details.reference(facts, "Btch/MsgId"),
                batch=details.reference(facts, "Btch/PmtInfId"),
            )
        except Unreadable as unreadable:
            self._note(unreadable.code)
        stated = facts.text("Btch/NbOfTxs")
        if count and stated and stated != str(count):
            self._note("detail_count_wrong")

    def draft(self, day: date) -> Draft | None:
        """The line, or None where the entry cannot be used. `day` is when it was booked, if the
        entry does not say."""
        try:
            return self._draft(day)
        except Unreadable as unreadable:
            self._note(unreadable.code)
        except ValueError:
            self._note("date_invalid")
        return None

    def _draft(self, day: date) -> Draft:
        facts = self._facts
        amount, currency = signed(facts)
        if currency != self._currency:
            raise Unreadable("currency_differs")
        status = facts.code("Sts")
        if not status:
            raise Unreadable("status_invalid")
        several = tuple(self._details) if len(self._details) > 1 else ()
        self._judge(several, amount)
        type_code, kind = self._kind(is_credit=amount >= 0)
        only = self._details[0] if len(self._details) == 1 else None
        return Draft(
            position=self.position,
            amount=amount,
            booked_date=facts.day("BookgDt") or day,
            value_date=facts.day("ValDt"),
            kind=kind,
            type_code=type_code,
            is_booked=status == _BOOKED,
            is_reversal=self._is_reversal,
            references=self._references(only),
            party=only.party if only else "",
            text=self._text(only),
            return_code=only.return_code if only else "",
            details=several,
        )

    def _judge(self, several: tuple[Detail, ...], amount: int) -> None:
        """Payments that all have an amount in the account's currency give the entry's together."""
        amounts = [each.amount for each in several if each.amount is not None]
        if several and len(amounts) == len(several) and sum(amounts) != amount:
            self._note("details_wrong")

    @property
    def _is_reversal(self) -> bool:
        return self._facts.text("RvslInd") in _TRUE

    def _kind(self, *, is_credit: bool) -> tuple[str, LineKind]:
        """The bank's code for the entry, and what the entry is by it. Raises Unreadable."""
        facts = self._facts
        domain = facts.text("BkTxCd/Domn/Cd")
        family = facts.text("BkTxCd/Domn/Fmly/Cd")
        sub_family = facts.text("BkTxCd/Domn/Fmly/SubFmlyCd")
        own = facts.text("BkTxCd/Prtry/Cd")
        bai = codes.bai_code(own, facts.text("BkTxCd/Prtry/Issr"))
        kind = (
            type_codes.kind(bai)
            if bai
            else codes.kind(domain, family, sub_family, is_credit=is_credit)
        )
        if kind is LineKind.UNKNOWN:
            self._note("type_code_unknown")
        type_code = f"{domain}/{family}/{sub_family}" if domain else own
        return details.short(type_code), self._refined(kind)

    def _refined(self, kind: LineKind) -> LineKind:
        """What else the entry says, where its code says no more than credit or debit."""
        if kind not in _PLAIN:
            return kind
        if self._is_reversal:
            return LineKind.REVERSAL
        if self._details and all(each.return_code for each in self._details):
            return LineKind.RETURN
        return LineKind.BATCH if self._is_batch or len(self._details) > 1 else kind

    def _references(self, only: Detail | None) -> References:
        """Those of the entry, and of its payment if it has just one."""
        own = details.reference(self._facts, "AcctSvcrRef", "NtryRef")
        found = only.references if only else self._batch
        batch = self._batch
        if (found.bank, found.file, found.batch) == (own, batch.file, batch.batch):
            return found
        return replace(
            found,
            bank=own or found.bank,
            file=found.file or batch.file,
            batch=found.batch or batch.batch,
        )

    def _text(self, only: Detail | None) -> str:
        parts = (self._facts.text("AddtlNtryInf"), only.text if only else "")
        return self._cut(" ".join(part for part in parts if part))

    def _with_text_cut(self, detail: Detail) -> Detail:
        text = self._cut(detail.text)
        return detail if text == detail.text else replace(detail, text=text)

    def _cut(self, text: str) -> str:
        if len(text) > TEXT_LENGTH_MAX:
            self._note("text_cut")
        return text[:TEXT_LENGTH_MAX]

    def _note(self, code: str) -> None:
        if code not in self.codes:
            self.codes.append(code)
