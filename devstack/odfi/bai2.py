"""Writes a statement as BAI2: the previous day, final, with a line for each posting."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING

from devstack.odfi import calendar
from devstack.odfi.terms import Terms

if TYPE_CHECKING:
    from devstack.odfi.statements import Posting, Statement

# ACH settlement, a single ACH return, ACH credit received, miscellaneous fees; the other way round
# where it exists.
TYPE_CODES = MappingProxyType(
    {
        ("settlement", True): "166",
        ("settlement", False): "466",
        ("offset", True): "165",
        ("offset", False): "455",
        ("return", True): "257",
        ("return", False): "557",
        ("credit", True): "142",
        ("fee", False): "698",
    }
)
OPENING_LEDGER, CLOSING_LEDGER = "010", "015"
OPENING_AVAILABLE, CLOSING_AVAILABLE = "040", "045"
TOTAL_CREDITS, TOTAL_DEBITS = "100", "400"
FINAL_PREVIOUS_DAY = "2"
END_OF_DAY = "2359"


def write(statement: Statement, terms: Terms, *, at: datetime) -> bytes:
    account, control = _account(statement, terms)
    here = calendar.local(at)
    group = [
        f"02,{terms.customer_id},{terms.routing},1,{statement.day:%y%m%d},{END_OF_DAY},USD,"
        f"{FINAL_PREVIOUS_DAY}/",
        *account,
    ]
    group.append(f"98,{control},1,{len(group) + 1}/")
    file = [
        f"01,{terms.routing},{terms.customer_id},{here:%y%m%d},{here:%H%M},{statement.number},,,2/",
        *group,
    ]
    file.append(f"99,{control},1,{len(file) + 1}/")
    return "".join(f"{record}\n" for record in file).encode("ascii")


def _account(statement: Statement, terms: Terms) -> tuple[list[str], int]:
    """The records of the account, and the sum of every amount in them."""
    credit, credits = statement.total(1)
    debit, debits = statement.total(-1)
    opening, closing = statement.opening, statement.closing
    records = [
        f"03,{terms.settlement_account},USD,{OPENING_LEDGER},{opening},,,"
        f"{CLOSING_LEDGER},{closing},,/",
        f"88,{OPENING_AVAILABLE},{opening},,,{CLOSING_AVAILABLE},{closing},,/",
        f"88,{TOTAL_CREDITS},{credit},{credits},,{TOTAL_DEBITS},{debit},{debits},/",
        *_details(statement.postings),
    ]
    control = 2 * (opening + closing) + credit + debit
    control += sum(abs(each.amount) for each in statement.postings)
    records.append(f"49,{control},{len(records) + 1}/")
    return records, control


def _details(postings: Iterable[Posting]) -> Iterable[str]:
    for each in postings:
        code = TYPE_CODES[each.kind, each.amount > 0]
        text = each.text.translate(str.maketrans("/,", "  "))
        yield f"16,{code},{abs(each.amount)},0,{each.number},{each.reference},{text}"
