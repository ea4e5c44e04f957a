"""Codes of both standards: what they say of a line."""

from __future__ import annotations

import pytest

from networks.bank_statements.bai2 import type_codes
from networks.bank_statements.bai2.type_code_names import DETAILS, TOTALS
from networks.bank_statements.camt import codes
from networks.bank_statements.items import LineKind


@pytest.mark.parametrize(
    ("code", "sign"),
    [("099", None), ("100", 1), ("399", 1), ("400", -1), ("699", -1), ("700", None), ("890", None),
     ("919", None), ("920", 1), ("959", 1), ("960", -1), ("999", -1)],
)  # fmt: skip
def test_the_ranges_say_whether_money_came(code, sign):
    assert type_codes.sign(code) == sign


def test_names_are_of_credits_and_debits_only():
    assert all(type_codes.sign(code) for code in (*DETAILS, *TOTALS))
    assert not set(DETAILS) & set(TOTALS)


@pytest.mark.parametrize(
    ("code", "name", "kind"),
    [
        ("142", "ACH Credit Received", LineKind.CREDIT),
        ("166", "ACH Settlement", LineKind.BATCH),
        ("451", "ACH Debit Received", LineKind.DEBIT),
        ("466", "ACH Settlement", LineKind.BATCH),
        ("257", "Individual ACH Return Item", LineKind.RETURN),
        ("557", "Individual ACH Return Item", LineKind.RETURN),
        ("558", "ACH Reversal Debit", LineKind.REVERSAL),
        ("698", "Miscellaneous Fees", LineKind.FEE),
        ("354", "Interest Credit", LineKind.INTEREST),
        ("199", "", LineKind.UNKNOWN),
        ("970", "", LineKind.UNKNOWN),
    ],
)
def test_a_code_has_a_name_and_a_kind(code, name, kind):
    assert (type_codes.name(code), type_codes.kind(code)) == (name, kind)


@pytest.mark.parametrize(
    "kind", [kind for kind in LineKind if kind.value not in ("credit", "debit")]
)
def test_every_code_of_a_kind_is_one_that_the_standard_names(kind):
    known = [code for code in (*DETAILS, *TOTALS) if type_codes.kind(code) is kind]

    assert sorted(known) == sorted(type_codes._OF_KIND.get(kind, ()))


@pytest.mark.parametrize(
    ("family", "sub_family", "kind"),
    [
        ("IDDT", "PMDD", LineKind.DEBIT),
        ("IDDT", "UPDD", LineKind.RETURN),
        ("ICDT", "RRTN", LineKind.RETURN),
        ("IDDT", "PRDD", LineKind.REVERSAL),
        ("MDOP", "CHRG", LineKind.FEE),
        ("MDOP", "INTR", LineKind.INTEREST),
        ("IRCT", "DMCT", LineKind.DEBIT),
        ("XXXX", "PMDD", LineKind.UNKNOWN),
    ],
)
def test_a_family_of_iso_20022_has_a_kind(family, sub_family, kind):
    assert codes.kind("PMNT", family, sub_family, is_credit=False) is kind


@pytest.mark.parametrize(
    ("code", "issuer", "found"),
    [("166", "BAI", "166"), ("166", "bai2", "166"), ("166", "SWIFT", ""), ("199", "BAI", "")],
)
def test_a_code_of_bai_counts_where_the_bank_says_that_it_is_one(code, issuer, found):
    assert codes.bai_code(code, issuer) == found
