"""What a network is told of a transfer besides its amount."""

from __future__ import annotations

import pytest

from funding.models import Trigger
from funding.transfer import FUNDING
from networks.base import Authorization, HolderType, Purpose, Speed
from tests.builders import make_source
from tests.funding.builders import top_up
from tests.transfers.directions import DIRECTIONS


@pytest.mark.parametrize(
    ("direction", "purpose"), [("in", Purpose.TOPUP), ("out", Purpose.PAYMENT)]
)
def test_names_its_tenant_its_purpose_and_the_end_of_its_id(acme, direction, purpose):
    money = DIRECTIONS[direction]
    row = money.transfer.due().get(pk=money.make(acme).pk)

    told = money.transfer.instruction(row)

    assert (told.id, told.tenant_id, told.purpose) == (row.pk, acme.pk, purpose)
    assert told.individual_id == row.pk[-15:].upper()
    assert (told.speed, told.original_id) == (Speed.STANDARD, "")


@pytest.mark.parametrize(
    ("holder", "trigger", "authorization"),
    [
        (HolderType.BUSINESS, Trigger.TOPUP, Authorization.CORPORATE),
        (HolderType.BUSINESS, Trigger.AUTO_FUNDING, Authorization.CORPORATE),
        (HolderType.INDIVIDUAL, Trigger.TOPUP, Authorization.WEB_SINGLE),
        (HolderType.INDIVIDUAL, Trigger.STAFF, Authorization.WEB_SINGLE),
        (HolderType.INDIVIDUAL, Trigger.AUTO_FUNDING, Authorization.WEB_RECURRING),
    ],
)
def test_a_debit_says_how_it_was_authorized(acme, holder, trigger, authorization):
    funding = top_up(acme, source=make_source(acme, holder_type=holder))
    funding.trigger = trigger

    assert FUNDING.instruction(funding).authorization is authorization


def test_nobody_authorizes_money_that_is_sent(acme):
    money = DIRECTIONS["out"]

    assert money.transfer.instruction(money.make(acme)).authorization is None
