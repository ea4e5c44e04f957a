"""Every page of the dashboard, for everybody who might ask for it.

The table below is the policy. A page that is missing from it fails the first test: decide who may
see it and who may act on it, then add its line.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from django.db import transaction
from django.urls import URLPattern, get_resolver, reverse

from api.models import ApiRequest
from common import days
from common.clock import utc_now
from funding.models import Confirmation
from funding.services import auto_funding
from payments.services import recipients
from tenants import actors
from tenants.models import Membership, Role, Tenant, User
from tenants.services import invitations, keys
from tests.balance.builders import fund
from tests.builders import (
    make_auto_funding,
    make_endpoint,
    make_funding,
    make_member,
    make_source,
    publish,
)
from tests.database import digest
from tests.funding.agreeing import agree
from tests.payments.builders import account, pay
from tests.solvency.builders import DAY, prove
from webhooks.models import WebhookDelivery

pytestmark = pytest.mark.django_db

OWNER = frozenset({Role.OWNER})
MONEY = frozenset({Role.OWNER, Role.MEMBER})
APPROVERS = frozenset({Role.OWNER, Role.APPROVER})
DECIDING = MONEY | {Role.APPROVER}
EVERYBODY = frozenset(Role)
NOBODY: frozenset[Role] = frozenset()
# What a tenant that requires a second factor shows a session that proved none.
OPEN_WITHOUT_A_FACTOR: set[str] = set()
# When a session was used last is noted whatever it asks for.
SESSIONS = {"sessions_session", "usersessions_usersession"}
TODAY = days.day_of(utc_now())
# Pages of a month or a day, and what their addresses name.
MONTHS: dict[str | None, dict[str, Any]] = {
    "statement": {"first": TODAY.replace(day=1)},
    "statement_pdf": {"first": TODAY.replace(day=1)},
    "proof_json": {"day": DAY},
}


@dataclass(frozen=True)
class Rule:
    """Who may read the page, and who may act on it; None where the method does not exist."""

    read: frozenset[Role] | None
    act: frozenset[Role] | None = None


RULES = {
    "overview": Rule(EVERYBODY),
    "balance_chart": Rule(EVERYBODY),
    "transactions": Rule(EVERYBODY),
    "transactions_csv": Rule(EVERYBODY),
    "statements": Rule(EVERYBODY),
    "statement": Rule(EVERYBODY),
    "statement_pdf": Rule(EVERYBODY),
    "proof_json": Rule(EVERYBODY),
    "funding": Rule(EVERYBODY),
    "funding_detail": Rule(EVERYBODY),
    "funding_cancel": Rule(None, MONEY),
    "funding_retry": Rule(MONEY, MONEY),
    "topup": Rule(MONEY, MONEY),
    "topup_check": Rule(None, MONEY),
    "pay": Rule(MONEY, MONEY),
    "payments": Rule(EVERYBODY),
    "payments_csv": Rule(EVERYBODY),
    "payment_limits": Rule(EVERYBODY),
    "payment_limits_edit": Rule(OWNER, OWNER),
    "payment_cool_down": Rule(OWNER, OWNER),
    "payment_limits_change": Rule(APPROVERS, APPROVERS),
    "payment_approval": Rule(OWNER, OWNER),
    "payment_approval_change": Rule(APPROVERS, APPROVERS),
    "payment_detail": Rule(EVERYBODY),
    "payment_cancel": Rule(None, MONEY),
    "recipients": Rule(EVERYBODY),
    "recipient": Rule(EVERYBODY),
    "recipient_search": Rule(MONEY),
    "recipient_add": Rule(MONEY, MONEY),
    "recipient_rename": Rule(MONEY, MONEY),
    "recipient_remove": Rule(MONEY, MONEY),
    "approvals": Rule(EVERYBODY),
    "approval": Rule(EVERYBODY, EVERYBODY),  # who was asked decides, whatever the role
    "approval_resend": Rule(None, DECIDING),
    "auto_funding": Rule(EVERYBODY),
    "auto_funding_settings": Rule(MONEY, MONEY),
    "auto_funding_preview": Rule(None, MONEY),
    "auto_funding_pause": Rule(None, MONEY),
    "auto_funding_resume": Rule(None, MONEY),
    "bank_accounts": Rule(EVERYBODY),
    "bank_account_enter": Rule(MONEY, MONEY),
    "bank_account_pick": Rule(MONEY, MONEY),
    "bank_account_link": Rule(MONEY, MONEY),
    "bank_account_routing": Rule(MONEY),
    "bank_account_default": Rule(None, MONEY),
    "bank_account_authorize": Rule(MONEY, MONEY),
    "bank_account_holder": Rule(MONEY, MONEY),
    "bank_account_remove": Rule(MONEY, MONEY),
    "authorizations": Rule(EVERYBODY),
    "authorizations_csv": Rule(EVERYBODY),
    "authorization": Rule(EVERYBODY),
    "authorization_revoke": Rule(None, MONEY),
    "bank_account_verify": Rule(MONEY, MONEY),
    "api_keys": Rule(MONEY),
    "api_key_issue": Rule(OWNER, OWNER),
    "api_key_rotate": Rule(OWNER, OWNER),
    "api_key_revoke": Rule(OWNER, OWNER),
    "api_key_loosening": Rule(OWNER, OWNER),
    "webhooks": Rule(EVERYBODY),
    "webhook_register": Rule(OWNER, OWNER),
    "webhook": Rule(EVERYBODY),
    "webhook_edit": Rule(OWNER, OWNER),
    "webhook_rotate": Rule(OWNER, OWNER),
    "webhook_switch": Rule(None, OWNER),
    "webhook_remove": Rule(OWNER, OWNER),
    "webhook_test": Rule(None, MONEY),
    "webhook_replay": Rule(MONEY, MONEY),
    "delivery": Rule(EVERYBODY),
    "delivery_resend": Rule(None, MONEY),
    "find": Rule(EVERYBODY),
    "developers": Rule(EVERYBODY),
    "requests": Rule(EVERYBODY),
    "request": Rule(EVERYBODY),
    "events": Rule(EVERYBODY),
    "event": Rule(EVERYBODY),
    "team": Rule(EVERYBODY),
    "team_invite": Rule(OWNER, OWNER),
    "team_sign_in_rule": Rule(None, OWNER),
    "invitation_resend": Rule(None, OWNER),
    "invitation_revoke": Rule(None, OWNER),
    "member_role": Rule(OWNER, OWNER),
    "member_remove": Rule(OWNER, OWNER),
    "settings": Rule(EVERYBODY, OWNER),
    "settings_retries": Rule(EVERYBODY, OWNER),
    "notifications": Rule(EVERYBODY, EVERYBODY),
    "audit_log": Rule(OWNER),
    "audit_log_csv": Rule(OWNER),
    "switch_tenant": Rule(None, NOBODY),  # names no tenant here; its own tests do
}


@cache
def pages():
    """Every named page under /dashboard/, with the things its address names."""
    resolver = get_resolver()
    dashboard = resolver.namespace_dict["dashboard"][1]
    return {
        pattern.name: set(pattern.pattern.converters) - set(MONTHS.get(pattern.name, ()))
        for pattern in dashboard.url_patterns
        if isinstance(pattern, URLPattern) and pattern.name is not None
    }


@pytest.fixture
def people(acme):
    return {role: make_member(acme, email=f"{role}@acme.example", role=role) for role in Role}


@pytest.fixture
def things(acme, people):
    return things_of(acme)


def things_of(tenant):
    """One of everything of a tenant with an owner, by the name it has in addresses."""
    fund(tenant, 1_000)
    source = make_source(tenant)
    make_auto_funding(tenant, confirmation_threshold=10_000)
    auto_funding.evaluate(tenant_id=tenant.pk, now=utc_now())
    make_endpoint(tenant)
    event = publish(tenant)
    delivery = WebhookDelivery.objects.get(event_id=event)
    lee = make_member(tenant, email=f"lee@{tenant.name.lower()}.example", role=Role.VIEWER)
    key = keys.issue(tenant=tenant, name="Server", actor=actors.SYSTEM, now=utc_now()).key
    logged = ApiRequest.objects.create(
        tenant=tenant,
        key=key,
        request_id="r",
        method="GET",
        path="/api/v1/balance",
        status=200,
        duration_us=1,
        created_at=utc_now(),
    )
    kept = recipients.save(
        tenant_id=tenant.pk, details=account(), actor=actors.SYSTEM, now=utc_now()
    )
    question = invitations.invite(
        tenant_id=tenant.pk,
        email=f"new@{tenant.name.lower()}.example",
        role=Role.VIEWER,
        actor=actors.SYSTEM,
        now=utc_now(),
    )
    prove(tenant)
    return {
        "source_id": source.pk,
        "funding_id": make_funding(tenant, source).pk,
        "authorization_id": agree(source).pk,
        "approval_id": Confirmation.objects.get(tenant=tenant).pk,
        "key_id": key.pk,
        "endpoint_id": delivery.endpoint_id,
        "delivery_id": delivery.pk,
        "event_id": event,
        "payment_id": pay(tenant, wait=True).pk,
        "recipient_id": kept.pk,
        "request_pk": logged.pk,
        "membership_id": Membership.objects.get(user=lee).pk,
        "invitation_id": question.pk,
    }


@pytest.fixture
def address(things):
    def of(name):
        named = {key: things[key] for key in pages()[name]}
        return reverse(f"dashboard:{name}", kwargs=named | MONTHS.get(name, {}))

    return of


@pytest.fixture
def statuses(acme, people, address, sign_in):
    """`{page: {role: status}}` of one method, with whatever it did undone."""

    browsers = {role: sign_in(people[role]) for role in Role}

    def of(method):
        return {
            name: {role: asked(browsers[role], address(name), method, acme).status for role in Role}
            for name in each(method)
        }

    return of


@dataclass(frozen=True)
class Answer:
    status: int
    leads_to: str
    text: bytes


def asked(browser, address, method, tenant, typed=None):
    """The answer to opening a page, or to a form with what was typed; what it did is undone."""
    with transaction.atomic():
        if method == "read":
            response = browser.get(address)
        else:
            response = browser.post(address, {**(typed or {}), "acting_for": tenant.pk})
        text = b"".join(response.streaming_content) if response.streaming else response.content
        transaction.set_rollback(True)
    return Answer(response.status_code, response.get("Location", ""), text)


def each(method):
    """The pages that have this method, and their rule for it."""
    return {
        name: getattr(rule, method)
        for name, rule in RULES.items()
        if getattr(rule, method) is not None
    }


def test_every_page_is_in_the_table():
    assert set(pages()) == set(RULES)


@pytest.mark.parametrize("method", ["read", "act"])
class TestEveryPage:
    def test_lets_in_the_roles_of_the_table_alone(self, statuses, method):
        found = statuses(method)

        let_in = {
            name: {role for role, status in by_role.items() if status != 403}
            for name, by_role in found.items()
        }
        assert let_in == each(method)
        answers = {status for by_role in found.values() for status in by_role.values()}
        assert answers <= ({200, 403} if method == "read" else {200, 302, 403, 409, 422})

    def test_has_no_method_beside_those(self, acme, people, address, sign_in, method):
        browser = sign_in(people[Role.OWNER])

        missing = set(RULES) - set(each(method))

        assert {
            name for name in missing if asked(browser, address(name), method, acme).status != 405
        } == set()

    def test_sends_who_is_not_signed_in_to_sign_in(self, acme, address, client, method):
        where = {
            asked(client, address(name), method, acme).leads_to.split("?")[0]
            for name in each(method)
        }

        assert where == {"/accounts/login/"}

    def test_shows_nothing_to_who_belongs_nowhere(self, acme, address, sign_in, method):
        browser = sign_in(User.objects.create_user(email="loner@acme.example"))

        assert {asked(browser, address(name), method, acme).status for name in each(method)} == {
            403
        }

    def test_shows_nothing_to_who_left(self, acme, people, address, sign_in, method):
        """The session goes on, as theirs."""
        browser = sign_in(people[Role.OWNER])
        assert asked(browser, address("overview"), "read", acme).status == 200
        people[Role.OWNER].memberships.all().delete()

        assert {asked(browser, address(name), method, acme).status for name in each(method)} == {
            403
        }

    def test_waits_for_a_second_factor_of_the_session_where_one_is_required(
        self, acme, people, address, sign_in, method
    ):
        Tenant.objects.filter(pk=acme.pk).update(requires_second_factor=True)
        browser = sign_in(people[Role.OWNER])

        with digest.unchanged(apart_from=SESSIONS):
            assert {
                name
                for name in each(method)
                if asked(browser, address(name), method, acme).status != 403
            } == OPEN_WITHOUT_A_FACTOR

    def test_of_a_thing_of_acme_is_not_found_by_the_owner_of_another_tenant(
        self, acme, rival, ravi, address, sign_in, method
    ):
        browser = sign_in(ravi)
        needs_a_thing = [name for name in each(method) if pages()[name]]

        assert {
            name: status
            for name in needs_a_thing
            if (status := asked(browser, address(name), method, rival).status) != 404
        } == {}


@pytest.mark.parametrize(
    ("are_files", "written"), [(False, SESSIONS), (True, SESSIONS | {"tenants_auditevent"})]
)
def test_opening_a_page_writes_nothing(acme, people, address, sign_in, are_files, written):
    """But for the line of the audit log that somebody took a file."""
    browser = sign_in(people[Role.OWNER])

    with digest.unchanged(apart_from=written):
        for name in each("read"):
            if name.endswith(("_csv", "_pdf", "_json")) == are_files:
                for method in ("get", "head", "options"):
                    answer = getattr(browser, method)(address(name))
                    assert b"".join(answer) is not None


def test_no_list_shows_another_tenants_things(acme, rival, ravi, things, address, sign_in):
    browser = sign_in(ravi)
    words = ("@acme.example", acme.pk, *things.values())

    for name in each("read"):
        if not pages()[name]:
            text = asked(browser, address(name), "read", rival).text
            assert [word for word in words if word.encode() in text] == [], name


def test_no_form_acts_from_a_window_of_another_tenant(acme, rival, people, address, sign_in):
    browser = sign_in(people[Role.OWNER])

    assert {
        name: status
        for name, roles in each("act").items()
        if roles and (status := asked(browser, address(name), "act", rival).status) != 409
    } == {}
