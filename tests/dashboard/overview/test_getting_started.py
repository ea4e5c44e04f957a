"""The first steps: each is ticked by what is really there, and offered to who may do it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from common.clock import utc_now
from dashboard.overview.getting_started import steps
from funding.states import FundingStatus
from tenants.models import ApiKey, Role
from tests.balance.builders import fund
from tests.builders import (
    make_auto_funding,
    make_endpoint,
    make_funding,
    make_key,
    make_member,
    make_source,
)
from tests.funding.builders import run_due, top_up

ACCOUNT, VERIFIED, MONEY, AUTO_FUNDING, KEY, WEBHOOK = range(6)


def done(tenant, *, has_auto_funding=False):
    """The numbers of the steps that are ticked."""
    found = steps(tenant, role=Role.OWNER, has_auto_funding=has_auto_funding, now=utc_now())
    return [number for number, step in enumerate(found) if step.is_done]


def do_everything(tenant):
    make_source(tenant)
    fund(tenant, 10_000)
    make_key(tenant)
    make_endpoint(tenant, last_success_at=utc_now())


class TestSteps:
    def test_of_a_new_tenant_are_all_open(self, acme):
        assert done(acme) == []
        assert len(steps(acme, role=Role.OWNER, has_auto_funding=False, now=utc_now())) == 6

    def test_an_account_that_is_not_verified_ticks_one(self, acme):
        make_source(acme, account_number="50001")

        assert done(acme) == [ACCOUNT]

    def test_money_counts_when_it_has_arrived(self, acme):
        source = make_source(acme)
        make_funding(acme, source, status=FundingStatus.PENDING)
        assert done(acme) == [ACCOUNT, VERIFIED]

        top_up(acme, source=source)
        run_due()
        assert done(acme) == [ACCOUNT, VERIFIED, MONEY]

    def test_money_counts_however_it_came(self, acme):
        fund(acme, 10_000)

        assert done(acme) == [MONEY]

    def test_a_webhook_counts_when_it_was_answered(self, acme):
        endpoint = make_endpoint(acme)
        assert done(acme) == []

        endpoint.last_success_at = utc_now()
        endpoint.save()
        assert done(acme) == [WEBHOOK]

    def test_those_of_a_rival_tick_nothing(self, acme, rival):
        do_everything(rival)

        assert done(acme) == []

    def test_are_gone_when_all_are_done(self, acme):
        do_everything(acme)
        assert done(acme) == [ACCOUNT, VERIFIED, MONEY, KEY, WEBHOOK]

        assert steps(acme, role=Role.OWNER, has_auto_funding=True, now=utc_now()) == []

    @pytest.mark.parametrize(("days", "count"), [(29, 6), (31, 0)])
    def test_are_gone_after_a_month_in_which_money_arrived(self, acme, days, count):
        fund(acme, 10_000)
        later = acme.created_at + timedelta(days=days)

        assert len(steps(acme, role=Role.OWNER, has_auto_funding=False, now=later)) == count

    def test_stay_for_who_has_no_money_yet(self, acme):
        later = acme.created_at + timedelta(days=300)

        assert len(steps(acme, role=Role.OWNER, has_auto_funding=False, now=later)) == 6

    @pytest.mark.parametrize(("role", "count"), [("viewer", 0), ("approver", 0), ("member", 6)])
    def test_are_shown_to_who_may_do_one(self, acme, role, count):
        found = steps(acme, role=Role(role), has_auto_funding=False, now=utc_now())

        assert len(found) == count

    def test_are_gone_for_who_may_do_none_of_those_left(self, acme):
        make_source(acme)
        fund(acme, 10_000)

        for role, count in ((Role.MEMBER, 0), (Role.OWNER, 6)):
            assert len(steps(acme, role=role, has_auto_funding=True, now=utc_now())) == count

    def test_take_one_query(self, acme, django_assert_num_queries):
        with django_assert_num_queries(1):
            done(acme)


class TestThePage:
    def test_ticks_auto_funding_that_is_on(self, acme, dana_browser):
        assert b"Turn on auto-funding</a>" in dana_browser.get("/dashboard/").content

        make_source(acme)
        make_auto_funding(acme)

        content = dana_browser.get("/dashboard/").content.decode()
        assert "Turn on auto-funding <span" in content
        assert "Turn on auto-funding</a>" not in content

    def test_links_only_what_the_reader_may_do(self, acme, dana_browser, sign_in):
        member = make_member(acme, email="mel@acme.example", role=Role.MEMBER)
        key, money = b'href="/dashboard/api-keys/new"', b'href="/dashboard/topup/">Add'

        owners, members = (
            browser.get("/dashboard/").content.partition(b"Getting started")[2]
            for browser in (dana_browser, sign_in(member))
        )

        assert key in owners
        assert key not in members
        assert money in owners
        assert money in members

    def test_say_instead_of_the_notice_that_auto_funding_is_off(self, acme, dana_browser):
        notice, page = "Auto-funding is off", "/dashboard/"
        assert notice not in dana_browser.get(page).content.decode()
        part = f"{page}?starting=1"
        assert f'hx-get="{part}"' in dana_browser.get(page).content.decode()
        assert notice not in dana_browser.get(part, HTTP_HX_REQUEST="true").content.decode()

        make_auto_funding(acme)
        assert 'aria-label="Auto-funding"' in dana_browser.get(page).content.decode()
        assert 'hx-get="/dashboard/"' in dana_browser.get(page).content.decode()

    def test_are_shown_to_nobody_who_is_done(self, acme, dana_browser):
        do_everything(acme)
        make_auto_funding(acme)

        assert ApiKey.objects.count() == 1
        assert b"Getting started" not in dana_browser.get("/dashboard/").content
