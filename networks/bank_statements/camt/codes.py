"""What a bank transaction code says of an entry: ISO 20022's domain, family and sub-family.

A bank in the United States often names BAI's type code as its own beside it, which says more.
Source: ISO 20022 external code sets, bank transaction codes.
"""

from __future__ import annotations

from networks.bank_statements.bai2 import type_codes
from networks.bank_statements.items import LineKind

PAYMENTS = "PMNT"
# Cards, checks, counter, cash letters, credit transfers, direct debits, drafts, instant payments,
# lockbox, others.
_FAMILIES = frozenset(
    (
        *("CCRD", "MCRD", "ICHQ", "RCHQ", "CNTR", "ICCN", "RCCN", "ICDT", "RCDT", "IDDT"),
        *("RDDT", "DRFT", "IRCT", "RRCT", "LBOX", "MCOP", "MDOP", "NTAV", "OTHR"),
    )
)
# Returned payment, unpaid direct debit, check, card payment.
_RETURNS = frozenset(("RRTN", "UPDD", "UPCQ", "UPCT"))
_REVERSALS = frozenset(("PRDD", "RCDD", "RPCR"))  # of a payment, at somebody's request
_FEES = frozenset(("CHRG", "COMM", "COME", "COMI", "COMT", "FEES"))
_INTEREST = frozenset(("INTR",))
_BAI_ISSUERS = frozenset(("BAI", "BAI2"))


def bai_code(code: str, issuer: str) -> str:
    """The type code of BAI that a bank gives as its own; empty where it is another one."""
    is_bai = issuer.upper() in _BAI_ISSUERS and len(code) == 3 and type_codes.is_known(code)
    return code if is_bai else ""


def kind(domain: str, family: str, sub_family: str, *, is_credit: bool) -> LineKind:
    """What an entry with that code is; unknown for a code that we do not know."""
    for known, found in (
        (_RETURNS, LineKind.RETURN),
        (_REVERSALS, LineKind.REVERSAL),
        (_FEES, LineKind.FEE),
        (_INTEREST, LineKind.INTEREST),
    ):
        if sub_family in known:
            return found
    if domain != PAYMENTS or family not in _FAMILIES:
        return LineKind.UNKNOWN
    return LineKind.CREDIT if is_credit else LineKind.DEBIT
