"""When money is expected follows from the cut-offs of the network that moves it."""

from __future__ import annotations

from datetime import date, time

import pytest

from networks import schemes
from networks.base import Capabilities, Cutoff, Method
from networks.sandbox.bank import SandboxBank
from tests.builders import NOW
from tests.transfers.directions import DIRECTIONS

MORNING = (Cutoff(time(9, 0)),)


class EarlyBank(SandboxBank):
    """Takes files until nine in the morning only."""

    capabilities = Capabilities(
        methods={
            Method.ACH_DEBIT: schemes.ach_debit(MORNING),
            Method.ACH_CREDIT: schemes.ach_credit(MORNING),
        }
    )


# NOW is noon on the Friday before Thanksgiving.
EXPECTED = {
    "in": (date(2026, 11, 25), date(2026, 11, 27)),
    "out": (date(2026, 11, 23), date(2026, 11, 24)),
}


def expected_of(row):
    row = type(row).objects.get(pk=row.pk)
    return getattr(row, "expected_availability_date", None) or row.expected_arrival_date


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_what_is_offered_and_what_is_made_follow_the_network(acme, connect, direction):
    money, (usual, later) = DIRECTIONS[direction], EXPECTED[direction]
    method = money.transfer.methods["ach_debit" if direction == "in" else "ach_credit"]
    before = money.make(acme)
    assert (method.terms("sandbox").expected_on(NOW), expected_of(before)) == (usual, usual)

    connect(EarlyBank())

    assert method.terms("sandbox").expected_on(NOW) == later
    assert expected_of(money.make(acme)) == later
    assert expected_of(before) == usual
