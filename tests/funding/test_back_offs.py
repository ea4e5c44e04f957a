"""A bank account that refused a debit is left alone for a while, whatever started the debit."""

from __future__ import annotations

from typing import Unpack

import pytest

from balance import services as ledger
from funding.models import AutoFundingConfig
from funding.services import auto_funding_checks, auto_funding_config, sources
from funding.services.auto_funding_config import Changes
from funding.transfer import FUNDING
from tenants.actors import SYSTEM
from tests.balance.builders import movement
from tests.builders import NOW, make_auto_funding, make_source
from tests.funding.auto_funding import HOUR, KEY, automatic, evaluate, log_of
from tests.funding.builders import run_due, top_up
from transfers import submission
from transfers.inbox import messages

# The account that leads to R01 in transit, and one that always pays.
EMPTY, FULL = "10001", "000123456789"

pytestmark = pytest.mark.usefixtures("set_size")


@pytest.fixture
def config(acme):
    """Below $100.00 add $500.00; the balance is empty, and nothing was evaluated yet."""
    return make_auto_funding(acme)


def configure(tenant, **changes: Unpack[Changes]):
    auto_funding_config.configure(tenant_id=tenant.pk, changes=changes, actor=KEY, now=NOW)


def enough(tenant):
    ledger.credit(**movement(tenant, 20_000, source_type="adjustment"))


def fall(tenant):
    """Through the threshold: auto-funding decides in the same transaction."""
    ledger.debit(**movement(tenant, 20_000, source_type="adjustment"))


def test_r01_on_a_top_up_slows_auto_funding_from_the_account(acme, config):
    source = make_source(acme, account_number=EMPTY)
    enough(acme)
    topup = top_up(acme, source=source)
    run_due()
    topup.refresh_from_db()
    assert topup.return_code == "R01"

    fall(acme)

    config.refresh_from_db()
    assert not automatic(acme).exists()
    assert (config.paused_reason, config.paused_until) == ("waiting_after_failure", NOW + HOUR)
    evaluate(acme, NOW + HOUR)
    assert automatic(acme).count() == 1


def test_it_slows_no_other_account(acme, config):
    make_source(acme, account_number=FULL)
    empty = make_source(acme, account_number=EMPTY)

    top_up(acme, source=empty)
    run_due()

    config.refresh_from_db()
    assert config.paused_reason == ""
    evaluate(acme)
    assert automatic(acme).count() == 1


def test_settings_that_turn_to_the_account_wait_as_well(acme, config):
    make_source(acme, account_number=FULL)
    empty = make_source(acme, account_number=EMPTY)
    enough(acme)
    top_up(acme, source=empty)
    run_due()

    sources.make_default(tenant_id=acme.pk, source_id=empty.pk, actor=KEY, now=NOW)
    fall(acme)

    config = AutoFundingConfig.objects.get()
    assert not automatic(acme).exists()
    assert (config.paused_reason, config.paused_until) == ("waiting_after_failure", NOW + HOUR)
    assert log_of(acme) == ["declined waiting_after_failure"]


def test_removing_and_adding_the_account_again_is_no_way_around_it(acme, config):
    empty = make_source(acme, account_number=EMPTY)
    config.source = make_source(acme, account_number=FULL)
    config.save()
    enough(acme)
    top_up(acme, source=empty)
    run_due()
    sources.remove(tenant_id=acme.pk, source_id=empty.pk, actor=SYSTEM, now=NOW)
    again = make_source(acme, account_number=EMPTY)

    configure(acme, source_id=again.pk)
    fall(acme)

    assert not automatic(acme).exists()
    assert AutoFundingConfig.objects.get().paused_until == NOW + HOUR


def test_is_foreseen_where_nothing_is_decided(acme, config):
    make_source(acme, account_number=FULL)
    empty = make_source(acme, account_number=EMPTY)
    top_up(acme, source=empty)
    run_due()
    config.source = empty
    config.save()

    obstacle = auto_funding_checks.obstacle_of(config, now=NOW)
    later = auto_funding_checks.obstacle_of(config, now=NOW + HOUR)

    assert obstacle is not None
    assert (obstacle.reason, later) == ("waiting_after_failure", None)


def test_a_person_who_switches_it_on_again_ends_the_wait(acme, config):
    source = make_source(acme, account_number=EMPTY)
    top_up(acme, source=source)
    submission.submit_due(FUNDING, now=NOW)
    messages.process(FUNDING, now=NOW)
    run_due()
    assert AutoFundingConfig.objects.get().paused_reason == "waiting_after_failure"

    configure(acme, enabled=True)

    assert automatic(acme).count() == 1
