"""Every page of the desk and of the admin, for everybody who might ask for it.

The tables below are the policy: which power opens a page, and which lets somebody act on it. A page
that is missing fails the first test: decide who needs it, then add its line. Models of the admin
need one only where somebody may write: all others are read with `view_…` and written by nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from io import StringIO

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.core.management import call_command
from django.db import models, transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from common.clock import utc_now
from desk.roles import ROLES
from tenants.actors import SYSTEM
from tenants.models import Role, User
from tenants.services import staff
from tests.builders import browser_of, make_member, make_source, make_staff
from tests.database import digest
from tests.desk.ach import RAIL, make_rail
from tests.solvency import builders as solvency

pytestmark = pytest.mark.django_db

Powers = frozenset[str]
ANYBODY: Powers = frozenset()  # whoever works here
# No power opens it; a superuser has all that there are, and this one is none of them.
NOBODY: Powers = frozenset({"nobody"})
SESSIONS = {"sessions_session", "usersessions_usersession"}
STALE_MINUTES = 11


@dataclass(frozen=True)
class Rule:
    """The powers to read the page and to act on it; None where the method does not exist."""

    read: Powers | None
    act: Powers | None = None


def _seen(*powers: str) -> Rule:
    return Rule(frozenset(powers))


def _form(*powers: str) -> Rule:
    return Rule(frozenset(powers), frozenset(powers))


def _button(*powers: str) -> Rule:
    return Rule(None, frozenset(powers))


RECORDS, FILES, ENTRIES = "ach.view_inrecord", "ach.view_outfile", "ach.view_achentry"
RAILS, LEDGER, TENANT = "ach.view_achrail", "balance.view_ledgercheck", "tenants.view_tenant"
TERMS = "instant.view_instantrail"
DELIVERY = "webhooks.view_webhookdelivery"
STATEMENTS = "reconciliation.view_bankstatement"
DAYS, CLEARING = "reconciliation.view_closedday", "reconciliation.propose_clearing"
MATCHING = "reconciliation.match_statementline"
INSTANT, MESSAGES = "instant.view_conversation", "instant.view_message"
POSITIONS = "instant.view_position"
RETURNS = "instant.view_returnask"
PROOFS = "solvency.view_proofreport"
DESK = {
    "exceptions": _seen(RECORDS),
    "exception_record": _seen(RECORDS),
    "exception_decide": _form(RECORDS, "ach.change_inrecord"),
    "exception_file": _seen(RECORDS),
    "exception_decide_file": _form(RECORDS, "ach.change_inrecord"),
    "reply_withdraw": _form(RECORDS, "ach.change_inrecord"),
    "files": _seen(FILES),
    "file": _seen(FILES),
    "file_answer": _form(FILES, "ach.hold_outfile"),
    "file_release": _form(FILES, "ach.release_outfile"),
    "file_download": _button(FILES),  # and one of two powers: its own tests have it
    "file_batch": _seen(FILES),
    "file_step": _form(FILES, "ach.hold_outfile"),
    "proposal": _form("ach.release_outfile"),
    "answer": _form(FILES, "ach.release_outfile"),
    "entry_find": _seen(ENTRIES),
    "entry": _seen(ENTRIES),
    "entry_take_out": _form(ENTRIES, "ach.hold_outfile"),
    "entry_reverse": _form(ENTRIES, "ach.propose_achreversal"),
    "reversal": _form(ENTRIES, "ach.approve_achreversal"),
    "instant": _seen(INSTANT),
    "conversation": _seen(INSTANT, MESSAGES),
    "conversation_resolve": _form(INSTANT, "instant.change_conversation"),
    "instant_messages": _seen(MESSAGES),
    "instant_message": _seen(MESSAGES),
    "instant_message_read": _button(MESSAGES),
    "instant_message_reveal": _form(
        MESSAGES, "funding.reveal_source_number", "payments.reveal_recipient_number"
    ),
    "instant_message_resolve": _form(MESSAGES, "instant.change_message"),
    "positions": _seen(POSITIONS),
    "position_move_new": _form(POSITIONS, "instant.propose_positionmove"),
    "position_move": _form(POSITIONS, "instant.approve_positionmove"),
    "return_ask": _seen(RETURNS),
    "return_ask_propose": _form(RETURNS, "instant.propose_returnask"),
    "return_ask_take_back": _button(RETURNS, "instant.propose_returnask"),
    "return_ask_decide": _form(RETURNS, "instant.approve_returnask"),
    "item": _seen("desk.view_itemnote"),  # and what opens the page of such an item
    "item_note": _form("desk.view_itemnote", "desk.add_itemnote"),
    "item_assign": _button("desk.view_itemnote", "desk.add_assignment"),
    "find": _seen(),  # each of its groups asks for the power of its list
    "funding": _seen("funding.view_fundingtransaction"),
    "payment": _seen("payments.view_payment"),
    "event": _seen("webhooks.view_webhookevent"),
    "delivery": _seen(DELIVERY),
    "delivery_resend": _button(DELIVERY, "webhooks.change_webhookdelivery"),
    "ledger": _seen(LEDGER),
    "check": _button(LEDGER, "balance.run_check"),
    "export": _button(LEDGER, "balance.export_journal"),
    "proofs": _seen(PROOFS),
    "proof": _seen(PROOFS),
    "proof_download": _seen(PROOFS),
    "queues": _seen(TENANT),
    "rails": _seen(RAILS),
    "rail": _seen(RAILS),
    "instant_rail": _seen(TERMS),
    "instant_change": _form(TERMS, "instant.add_instantversion"),
    "instant_again": _button(TERMS, "instant.add_instantversion"),
    "instant_version": _seen(TERMS),
    "instant_decide": _form(TERMS, "instant.change_instantversion"),
    "instant_withdraw": _button(TERMS, "instant.add_instantversion"),
    "rail_change": _form(RAILS, "ach.add_railversion"),
    "rail_version": _seen(RAILS),
    "rail_decide": _form(RAILS, "ach.change_railversion"),
    "rail_test": _button(RAILS, "ach.hold_outfile"),
    "rail_look_again": _button(RAILS, "ach.hold_outfile"),
    "rail_stop": _form(RAILS, "ach.add_railswitch"),
    "rail_go_on": _form(RAILS, "ach.change_railswitch"),
    "originator_new": _form(RAILS, "ach.change_originator"),
    "originator_debits": _form(RECORDS, "ach.change_originator"),
    "originator": _form(RAILS, "ach.change_originator"),
    "originator_end": _button(RAILS, "ach.change_originator"),
    "reconciliation": _seen(DAYS),
    "reconciliation_history": _seen(DAYS),
    "reconciliation_day": _seen(DAYS),
    "reconciliation_transit": _seen(DAYS),
    "reconciliation_ahead": _seen(DAYS),
    "reconciliation_books": _seen(DAYS),
    "reconciliation_explain": _form(DAYS, "reconciliation.explain_intransit"),
    "reconciliation_close": _button(DAYS, "reconciliation.close_day"),
    "reconciliation_open": _seen(DAYS),
    "reconciliation_match": _seen(DAYS),
    "reconciliation_unmatch": _form(DAYS, MATCHING),
    "reconciliation_match_line": _form(DAYS, MATCHING),
    "reconciliation_book_line": _form(DAYS, MATCHING),
    "suspense": _seen(DAYS),
    "suspense_line": _seen(DAYS),
    "suspense_clear": _form(DAYS, CLEARING),
    "suspense_decide": _form(DAYS, "reconciliation.approve_clearing"),
    "statements": _seen(STATEMENTS),
    "statement": _seen(STATEMENTS),
    "statement_line": _button(STATEMENTS, "reconciliation.reveal_statementline"),
    "statement_upload": _form(STATEMENTS, "reconciliation.upload_bankstatement"),
    "settlement_account_new": _form(STATEMENTS, "reconciliation.propose_settlementaccount"),
    "settlement_account": _form(STATEMENTS, "reconciliation.approve_settlementaccount"),
    "tenant": _seen(TENANT),
    "suspend": _form(TENANT, "tenants.change_tenant"),
    "release": _form(TENANT, "tenants.change_tenant"),
    "limits": _form(TENANT, "funding.change_fundinglimit"),
    "view_as": _form(TENANT, "tenants.view_as_tenant"),
    "stop_viewing": _button(),
    "account_number": _form("funding.reveal_source_number"),
}
# Pages of the admin beside those of its models. Signing in and out has tests of its own.
SITE = {
    "index": _form(),
    "search": _form(),
    "app_list": _form(),  # not found by who may see nothing of it
    "autocomplete": Rule(NOBODY, None),  # without the field that asks
    "password_change": _form(),  # leads to where everybody does it
    "password_change_done": _seen(),
    "jsi18n": _seen(),
    "view_on_site": _form(),  # leads nowhere: no model has a page there
    "unknown": _form(),
}
SIGNING = {"login", "logout"}
# Who may write through the admin.
ADD = {
    "balance.adjustmentproposal": "balance.propose_adjustment",
    "network_inbox.handsettlement": "network_inbox.propose_settlement",
    "payments.paymentsettings": "payments.add_paymentsettings",
    "tenants.accessproposal": "tenants.propose_access",
    "tenants.switch": "tenants.add_switch",
    "tenants.tenant": "tenants.add_tenant",
}
CHANGE = {
    "payments.paymentsettings": "payments.change_paymentsettings",
    "tenants.apikey": "tenants.change_apikey",
    "tenants.user": "tenants.change_user",
}
# Their pages are the desk's, which ask for themselves.
LEADS_TO_THE_DESK = {
    model._meta.label_lower
    for model, own in admin.site._registry.items()
    if getattr(own, "desk_page", "") and getattr(own, "desk_key", "") == "pk"
}
_SETTLE = _form("network_inbox.change_inboundevent")
_STEP_FUNDING, _STEP_PAYMENT = (
    _form("funding.change_fundingtransaction"),
    _form("payments.change_payment"),
)
BUTTONS = {
    "balance_adjustmentproposal_approve": _form("balance.approve_adjustment"),
    "balance_adjustmentproposal_reject": _form("balance.approve_adjustment"),
    "funding_fundingtransaction_hold": _STEP_FUNDING,
    "funding_fundingtransaction_release": _STEP_FUNDING,
    "funding_fundingtransaction_stop": _STEP_FUNDING,
    "funding_fundingtransaction_withdraw": _STEP_FUNDING,
    "network_inbox_handsettlement_approve": _form("network_inbox.approve_settlement"),
    "network_inbox_handsettlement_reject": _form("network_inbox.approve_settlement"),
    "network_inbox_inboundevent_resolve": _SETTLE,
    "network_inbox_inboundevent_retry": _SETTLE,
    "payments_payment_hold": _STEP_PAYMENT,
    "payments_payment_release": _STEP_PAYMENT,
    "payments_payment_stop": _STEP_PAYMENT,
    "payments_payment_withdraw": _STEP_PAYMENT,
    "tenants_accessproposal_approve": _form("tenants.approve_access"),
    "tenants_accessproposal_reject": _form("tenants.approve_access"),
    "tenants_switch_release": _form("tenants.change_switch"),
    "tenants_user_close": _form("tenants.change_user"),
    "tenants_user_end_powers": _form("tenants.change_user"),
    "tenants_user_reopen": _form("tenants.change_user"),
    "tenants_user_send_enrolment_link": _form("tenants.change_user"),
    "tenants_user_send_reset_link": _form("tenants.change_user"),
}


def _of_model(model: type[models.Model]) -> dict[str, Rule]:
    """The rules of a model's own pages, by the names of Django's admin."""
    label, name = model._meta.label_lower, model._meta.model_name
    view = frozenset({f"{model._meta.app_label}.view_{name}"})
    add = frozenset({ADD[label]}) if label in ADD else NOBODY
    change = frozenset({CHANGE[label]}) if label in CHANGE else NOBODY
    base = label.replace(".", "_")
    page = Rule(view, change)
    return {
        f"{base}_changelist": Rule(view, view),
        f"{base}_add": Rule(add, add),
        f"{base}_change": _form() if label in LEADS_TO_THE_DESK else page,
        f"{base}_delete": Rule(NOBODY, NOBODY),
        f"{base}_history": _form(),  # leads to the audit log
        f"{base}_short": _form(),  # leads to the page
    }


MODELS = {name: rule for model in admin.site._registry for name, rule in _of_model(model).items()}
RULES = {f"desk:{name}": rule for name, rule in DESK.items()} | SITE | MODELS | BUTTONS
# What every role may open: one of them opens it here. A superuser tries what nobody may do.
COMMON = ("_changelist", "_change", "_history", "_short")


def each(method: str) -> dict[str, Powers]:
    """The pages that have this method, and the powers that open it."""
    return {
        name: powers
        for name, rule in RULES.items()
        if (powers := getattr(rule, method)) is not None
    }


def asked_for(method: str, who: str) -> dict[str, Powers]:
    """The pages that somebody tries in this test, and the powers that open them. A superuser alone
    tries what nobody may do, and a Viewer alone of the roles what all of them may open."""
    return {
        name: powers
        for name, powers in each(method).items()
        if (
            who == "superuser"
            if powers == NOBODY
            else who in {"Viewer", "nothing"} or not name.endswith(COMMON)
        )
    }


@cache
def routes() -> dict[str, str]:
    """Every address below /admin/ by its name, with the gaps for what it names."""
    return {
        _named(route, pattern): route
        for route, pattern in _walked(get_resolver(), "/")
        if route.startswith("/admin/")
    }


def _walked(resolver: URLResolver, before: str) -> Iterator[tuple[str, URLPattern]]:
    for pattern in resolver.url_patterns:
        route = f"{before}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            yield from _walked(pattern, route)
        else:
            yield route, pattern


def _named(route: str, pattern: URLPattern) -> str:
    if route.startswith("/admin/desk/"):
        return f"desk:{pattern.name}"
    if pattern.name:
        return pattern.name
    parts = route.split("/")
    return f"{parts[2]}_{parts[3]}_short" if len(parts) > 4 else "unknown"


@pytest.fixture
def address(acme):
    """The address of a page, of things that exist where there are some."""
    source = make_source(acme)
    make_rail()
    known = {
        "tenant_id": acme.pk,
        "account_id": source.pk,
        "name": RAIL,
        "what": "hold",
        "content_type_id": "1",
        "day": solvency.take(rail="nowhere").day.isoformat(),
    }
    rows = {
        model._meta.label_lower.replace(".", "_"): model._default_manager.first()
        for model in admin.site._registry
    }

    def of(name: str) -> str:
        row = next((row for base, row in rows.items() if row and name.startswith(f"{base}_")), None)
        known["object_id"] = row.pk if row else "1"
        route = re.sub(r"\^\(\?P<app_label>.*\)/\$", "tenants/", routes()[name])
        route = route.replace("(?P<url>.*)$", "nothing-here")
        return re.sub(r"<\w+:(\w+)>", lambda gap: str(known.get(gap[1], "1")), route)

    return of


@pytest.fixture(autouse=True)
def _strict_and_blank(settings):
    """Rendering would be most of the time."""
    settings.STAFF_SECOND_FACTOR = True
    options = {"loaders": ["tests.desk.blank.Loader"]}
    settings.TEMPLATES = [settings.TEMPLATES[0] | {"APP_DIRS": False, "OPTIONS": options}]


@pytest.fixture
def person(acme):
    """Somebody by the name that tests have for them."""

    def of(name: str) -> User:
        if name == "owner":
            return make_member(acme, email="dana@acme.example", role=Role.OWNER)
        if name == "superuser":
            return User.objects.create_superuser(email="root@ballast.example", password=None)
        if name in {"everything", "nothing"}:
            return make_staff(f"{name}@ballast.example", [] if name == "nothing" else None)
        call_command("staff_roles", verbosity=0, stdout=StringIO())
        return staff.grant(email="lee@ballast.example", roles=[name], actor=SYSTEM, now=utc_now())

    return of


def asked(browser: Client, address: str, method: str) -> tuple[int, str]:
    """The status and where it leads; whatever it did stays."""
    answer = browser.get(address) if method == "read" else browser.post(address)
    b"".join(answer)
    return answer.status_code, answer.get("Location", "").split("?")[0]


def undone(browser: Client, address: str, method: str) -> int:
    """The status; whatever it did is undone."""
    with transaction.atomic():
        status, _ = asked(browser, address, method)
        transaction.set_rollback(True)
    return status


def test_every_page_is_in_the_tables():
    assert set(routes()) - SIGNING == set(RULES)


def test_every_power_of_the_tables_exists():
    known = {
        f"{row.content_type.app_label}.{row.codename}"
        for row in Permission.objects.select_related("content_type")
    }
    needed = {
        power for method in ("read", "act") for powers in each(method).values() for power in powers
    }

    assert needed - NOBODY <= known


@pytest.mark.parametrize("method", ["read", "act"])
class TestEveryPage:
    @pytest.mark.parametrize("who", ["anonymous", "owner", "everything"])
    def test_sends_to_sign_in_who_does_not_work_here_or_proved_no_factor(
        self, person, address, who, method
    ):
        browser = Client() if who == "anonymous" else browser_of(person(who))

        with digest.unchanged(apart_from=SESSIONS):
            pages = asked_for(method, "nothing")
            found = {name: asked(browser, address(name), method) for name in pages}

        assert {
            name: answer for name, answer in found.items() if answer != (302, "/admin/login/")
        } == {}

    @pytest.mark.parametrize("who", ["nothing", "superuser", *ROLES])
    def test_lets_in_the_powers_of_the_tables_alone(self, person, address, who, method):
        user = person(who)
        browser = browser_of(user, factor="totp")
        pages = {
            name: user.has_perms(powers) and powers != NOBODY
            for name, powers in asked_for(method, who).items()
        }

        with digest.unchanged(apart_from=SESSIONS):
            refused = {
                name: asked(browser, address(name), method)[0]
                for name, is_let_in in pages.items()
                if not is_let_in
            }
        let_in = {
            name: undone(browser, address(name), method)
            for name, is_let_in in pages.items()
            if is_let_in
        }

        assert {name: status for name, status in refused.items() if status != 403} == {}
        assert {
            name: status for name, status in let_in.items() if status not in {200, 302, 404, 422}
        } == {}

    def test_has_no_method_beside_those(self, person, address, method):
        browser = browser_of(person("everything"), factor="totp")

        missing = set(RULES) - set(each(method))

        assert {name for name in missing if undone(browser, address(name), method) != 405} == set()


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["x", "%00"])
def test_an_id_that_is_none_is_not_found(person, wrong):
    """Found: a word for the number of a message, and a NUL anywhere, were errors of ours."""
    browser = browser_of(person("everything"), factor="totp")
    named = [route for route in routes().values() if "<" in route and "app_label" not in route]

    found = {
        undone(browser, re.sub(r"<\w+:(\w+)>", wrong, route), method)
        for route in named
        for method in ("read", "act")
    }

    assert found <= {200, 302, 403, 404, 405}


def test_nothing_is_done_for_whose_proof_is_too_old(person, address):
    browser = browser_of(person("everything"), factor="totp", minutes_ago=STALE_MINUTES)

    with digest.unchanged(apart_from=SESSIONS):
        found = {name: asked(browser, address(name), "act") for name in asked_for("act", "nothing")}

    asks = {(403, ""), (302, "/accounts/reauthenticate/"), (302, "/accounts/2fa/reauthenticate/")}
    assert {name: answer for name, answer in found.items() if answer not in asks} == {}


def test_nothing_is_done_without_a_csrf_token(person, address):
    browser = Client(enforce_csrf_checks=True)
    browser.cookies = browser_of(person("everything"), factor="totp").cookies

    with digest.unchanged(apart_from=SESSIONS):
        found = {name: asked(browser, address(name), "act")[0] for name in each("act")}

    assert set(found.values()) == {403}


def test_every_role_reads_what_a_viewer_reads(db):
    call_command("staff_roles", verbosity=0, stdout=StringIO())
    powers = {
        role: set(Permission.objects.filter(group__name=role).values_list("pk", flat=True))
        for role in ROLES
    }

    assert {role for role in ROLES if not powers[role] >= powers["Viewer"]} == set()


def test_no_action_of_a_list_is_open_to_a_viewer(person, address, acme):
    browser = browser_of(person("Viewer"), factor="totp")
    done = set()

    with digest.unchanged(apart_from=SESSIONS):
        for model, page in admin.site._registry.items():
            list_of = f"{model._meta.label_lower.replace('.', '_')}_changelist"
            chosen = list(model._default_manager.values_list("pk", flat=True)[:2]) or ["1"]
            for name in page.actions or ():
                action = name if isinstance(name, str) else name.__name__
                sent = {"action": action, "_selected_action": chosen, "reason": "Because I can"}
                browser.post(address(list_of), sent)
                done.add(f"{list_of}.{action}")

    assert done
