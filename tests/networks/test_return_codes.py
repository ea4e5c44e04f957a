from __future__ import annotations

import re

import pytest

from desk.instant import asks
from networks import return_codes
from networks.refusals import CANNOT_TAKE_IT
from networks.return_codes import Group

UNASSIGNED = {48, 49, *range(54, 61), *range(63, 67), 78, 79, *range(86, 90)}
ASSIGNED = {f"R{n:02d}" for n in range(1, 91)} - {f"R{n:02d}" for n in UNASSIGNED}
ASKED_BACK = {"AM09", "CURR", "CUTA", "DUPL", "FRAD", "TECH", "UPAY", "WNTB"}
REFUSED = {"AC01", "AC02", "AC03", "AC04", "AC06", "AM04", "CUST", "EXPIRED", "MD07", "SL12"}
ISO = REFUSED | ASKED_BACK


def test_every_assigned_code_is_there_and_no_other_but_our_own_words():
    ours = {"withdrawn", "takeback"}
    assert set(return_codes.ALL) == ASSIGNED | ISO | CANNOT_TAKE_IT | ours
    assert len(return_codes.ALL) == len(return_codes._TABLE)


@pytest.mark.parametrize("row", return_codes.ALL.values(), ids=lambda row: row.code)
def test_every_code_speaks_to_people(row):
    assert row.title
    assert not row.title.endswith(".")
    for text in (row.meaning, row.advice):
        assert re.fullmatch(r"[A-Z].*[a-z]\.", text)


def test_groups_are_those_of_the_return_rates():
    groups = {
        group: {code for code, row in return_codes.ALL.items() if row.group is group}
        for group in Group
    }

    assert groups[Group.UNAUTHORIZED] == {"R05", "R07", "R10", "R11", "R29", "R51"}
    assert groups[Group.ADMINISTRATIVE] == {"R02", "R03", "R04"}
    assert len(groups[Group.OTHER]) == len(return_codes.ALL) - 9


@pytest.mark.parametrize("code", ["R01", "R09", "R06", "R18", "R19", "R24", "AM04", "CUST"])
def test_passing_trouble_stops_nothing(code):
    row = return_codes.lookup(code)

    assert (row.ends_authorization, row.ends_account) == (False, False)


@pytest.mark.parametrize("code", ["R05", "R07", "R08", "R10", "R11", "R17", "R21", "R29", "R31"])
def test_a_missing_permission_ends_the_authorization_but_not_the_account(code):
    row = return_codes.lookup(code)

    assert (row.ends_authorization, row.ends_account) == (True, False)


@pytest.mark.parametrize("code", ["R02", "R03", "R04", "R12", "R13", "R16", "R20", "R28", "AC04"])
def test_dead_details_end_the_account(code):
    row = return_codes.lookup(code)

    assert (row.ends_authorization, row.ends_account) == (False, True)


@pytest.mark.parametrize("code", asks.ASKED)
def test_whatever_another_bank_asks_money_back_for_has_words_for_tenants(code):
    assert return_codes.lookup(code).title != "Unknown code"


@pytest.mark.parametrize(
    ("code", "ends"), [("FRAD", True), ("UPAY", True), ("WNTB", True), ("DUPL", False)]
)
def test_whoever_says_that_nobody_agreed_has_to_agree_again(code, ends):
    row = return_codes.lookup(code)

    assert (row.ends_authorization, row.ends_account) == (ends, False)


def test_the_names_of_codes_survive_a_lookup():
    assert return_codes.lookup("R01").title == "Insufficient funds"
    assert return_codes.lookup("R01").advice == "Try again when the account has enough money."


@pytest.mark.parametrize("code", ["R97", "R48", "NARR", ""])
def test_an_unknown_code_stops_automatic_debits(code):
    row = return_codes.lookup(code)

    assert row.code == code
    assert row.title == "Unknown code"
    assert (row.ends_authorization, row.ends_account) == (True, False)


@pytest.mark.parametrize(
    ("code", "is_return"), [("R01", True), ("R48", False), ("AC04", False), ("RC04", False)]
)
def test_only_assigned_r_codes_are_ach_returns(code, is_return):
    assert return_codes.is_ach_return(code) is is_return
