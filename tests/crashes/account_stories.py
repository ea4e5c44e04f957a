"""Every form that is no page of the dashboard: signing in and out, passwords, codes, passkeys,
sessions, the profile, joining, and the links in mails."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.core import mail
from django.test import Client
from django.urls import URLPattern, reverse

from approvals import links
from approvals.policies import AnyPolicy
from common.clock import utc_now
from funding.services.approval_policy import POLICY
from payments.services.approval_policy import POLICY as PAYMENTS
from tenants.actors import SYSTEM
from tenants.models import Role, User
from tenants.services import emails, invitations
from tests.builders import session_of
from tests.crashes.addresses import taking_posts
from tests.crashes.every_call import Story
from tests.crashes.page_stories import SECRET, Begin, asked_payment, form_of, open_approval
from tests.crashes.world import Act, World
from tests.dashboard.account.test_second_factor import enrolment_link
from tests.passkeys import Passkey

PASSWORD = "correct horse battery"
NEW = {"password1": "new horse battery", "password2": "new horse battery"}


def send(browser: Client, name: str, /, *names: Any, **fields: Any) -> Act:
    return lambda _headers: browser.post(reverse(name, args=names), fields)


def person(world: World) -> User:
    """Who signs in with a password."""
    user = world.owner
    user.set_password(PASSWORD)
    user.save(update_fields=["password"])
    return user


def entered(world: World) -> Client:
    """The browser of somebody who typed the password just now."""
    user, browser = person(world), Client(raise_request_exception=False)
    answer = browser.post(reverse("account_login"), {"login": user.email, "password": PASSWORD})
    assert answer.status_code == 302
    return browser


def signed_in(name: str, /, **fields: Any) -> Begin:
    return lambda world: send(entered(world), name, **fields)


def sign_in(world: World) -> Act:
    """In a new browser each time: one that never heard the answer has no cookie."""
    fields = {"login": person(world).email, "password": PASSWORD}

    def act(_headers: Mapping[str, str]) -> Any:
        return send(Client(raise_request_exception=False), "account_login", **fields)({})

    return act


def mistype(world: World) -> Act:
    """The trail says that somebody tried."""
    user = person(world)
    browser = Client(raise_request_exception=False)
    return send(browser, "account_login", login=user.email, password="wrong")


def forget(world: World) -> Act:
    browser = Client(raise_request_exception=False)
    return send(browser, "account_reset_password", email=person(world).email)


def reset(world: World) -> Act:
    forget(world)({})
    emails.send_due(now=utc_now())
    (path,) = re.findall(r"http://\S+(/accounts/\S+)", str(mail.outbox[-1].body))
    browser = Client(raise_request_exception=False)
    where = browser.get(path)["Location"]
    return lambda _headers: browser.post(where, NEW)


def codes(steps: int = 0) -> str:
    """What the app shows now, or half a minute before or after."""
    code: str = format_hotp_value(hotp_value(SECRET, int(time.time()) // 30 + steps))
    return code


def typing(browser: Client, name: str) -> Act:
    """Each time the next code, as the app shows one for a single use."""
    steps = iter((0, 1, -1))

    def act(_headers: Mapping[str, str]) -> Any:
        return browser.post(reverse(name), {"code": codes(next(steps))})

    return act


def second_step(world: World) -> Act:
    TOTP.activate(person(world), SECRET)
    return typing(entered(world), "mfa_authenticate")


def recovery_code(world: World) -> Act:
    TOTP.activate(person(world), SECRET)
    code = RecoveryCodes.activate(world.owner).generate_codes()[0]
    return send(entered(world), "mfa_authenticate", code=code)


def with_app(world: World) -> Client:
    browser = entered(world)
    TOTP.activate(world.owner, SECRET)
    RecoveryCodes.activate(world.owner)
    return browser


def opened(browser: Client, name: str, /, *names: Any) -> Any:
    """The page, after the password was typed again or the mailed link opened, if it asks for it."""
    path = reverse(name, args=names)
    page = browser.get(path)
    if page.get("Location") == reverse("ask_to_enroll"):
        browser.post(page["Location"])
        browser.get(enrolment_link())
        page = browser.get(path)
    if page.status_code == 302:
        page = browser.post(page["Location"], {"password": PASSWORD, "next": path}, follow=True)
    assert page.status_code == 200
    return page


def activate(world: World) -> Act:
    browser = entered(world)
    opened(browser, "mfa_activate_totp")
    session = session_of(browser)
    session["mfa.totp.secret"] = SECRET
    session.save()
    return typing(browser, "mfa_activate_totp")


def deactivate(world: World) -> Act:
    browser = with_app(world)
    opened(browser, "mfa_deactivate_totp")
    return send(browser, "mfa_deactivate_totp")


def generate(world: World) -> Act:
    browser = with_app(world)
    opened(browser, "mfa_generate_recovery_codes")
    return send(browser, "mfa_generate_recovery_codes")


def reauthenticate_by_code(world: World) -> Act:
    return typing(with_app(world), "mfa_reauthenticate")


def add_passkey(world: World) -> Act:
    browser = entered(world)
    asked = opened(browser, "mfa_add_webauthn").context["js_data"]["creation_options"]
    return send(browser, "mfa_add_webauthn", name="Key", credential=Passkey().added(asked))


def with_passkey(world: World) -> tuple[Client, Passkey, Authenticator]:
    browser, key = entered(world), Passkey()
    asked = opened(browser, "mfa_add_webauthn").context["js_data"]["creation_options"]
    fields = {"name": "Key", "credential": key.added(asked)}
    assert browser.post(reverse("mfa_add_webauthn"), fields).status_code == 302
    return browser, key, Authenticator.objects.get(user=world.owner, type="webauthn")


def of_passkey(page: str, /, **fields: Any) -> Begin:
    def begin(world: World) -> Act:
        browser, _key, row = with_passkey(world)
        opened(browser, page, row.pk)
        return send(browser, page, row.pk, **fields)

    return begin


def answering(
    world: World, browser: Client, key: Passkey, name: str, ask: Callable[[], Any]
) -> Act:
    """The key answers a challenge that was asked for before; a repeat asks for a new one, which
    somebody who is in already is not given."""
    challenges = [ask()]
    answered: list[bool] = []

    def act(_headers: Mapping[str, str]) -> Any:
        if answered:
            challenges.append(ask() or challenges[-1])
        answered.append(True)
        used = key.used(challenges[-1], user_id=world.owner.pk)
        return browser.post(reverse(name), {"credential": used})

    return act


def enter_by_passkey(world: World) -> Act:
    """In a new browser each time, as `sign_in`; the first one has its challenge already."""
    _browser, key, _row = with_passkey(world)
    path = reverse("mfa_login_webauthn")

    def stranger() -> tuple[Client, Any]:
        browser = Client(raise_request_exception=False)
        asked = browser.get(path, headers={"Accept": "application/json"})
        return browser, asked.json()["request_options"]

    ready = [stranger()]

    def act(_headers: Mapping[str, str]) -> Any:
        browser, asked = ready.pop() if ready else stranger()
        used = key.used(asked, user_id=world.owner.pk)
        return browser.post(path, {"credential": used})

    return act


def reauthenticate_by_passkey(world: World) -> Act:
    browser, key, _row = with_passkey(world)

    def ask() -> Any:
        page = browser.get(reverse("mfa_reauthenticate_webauthn"))
        return page.context["js_data"]["request_options"]

    return answering(world, browser, key, "mfa_reauthenticate_webauthn", ask)


def staff_sign_out(world: World) -> Act:
    return send(world.desk, "admin:logout")


def end_other(world: World) -> Act:
    entered(world)
    session = UserSession.objects.get(user=world.owner)
    return send(world.browser, "end_session", session.pk)


def end_all_others(world: World) -> Act:
    entered(world)
    return signed_in("usersessions_list")(world)


def invited(world: World) -> str:
    """The path of the link in the mail."""
    email = f"nell-{world.tenant.pk}@acme.example"
    invitations.invite(
        tenant_id=world.tenant.pk, email=email, role=Role.MEMBER, actor=SYSTEM, now=utc_now()
    )
    emails.send_due(now=utc_now())
    return "/join/" + str(mail.outbox[-1].body).split("/join/")[1].split()[0]


def join(world: World) -> Act:
    stranger, link = Client(raise_request_exception=False), invited(world)
    fields = {"name": "Nell Noe", "password": PASSWORD}
    return lambda _headers: stranger.post(link, fields)


def accept(world: World) -> Act:
    link = invited(world)
    nell = User.objects.create_user(email=f"nell-{world.tenant.pk}@acme.example")
    browser = world.browser_of(nell)
    return lambda _headers: browser.post(link)


def at_link(world: World, url: str, **fields: Any) -> Act:
    path = reverse("confirmation", args=[url.rstrip("/").rpartition("/")[2]])
    return form_of(world, Client(raise_request_exception=False), path, **fields)


def address(world: World, policy: AnyPolicy, subject_id: str) -> str:
    (url,) = links.for_sandbox(
        policy, tenant_id=world.tenant.pk, subject_id=subject_id, now=utc_now()
    ).urls.values()
    return str(url)


def of_funding(world: World) -> str:
    return address(world, POLICY, open_approval(world).funding_id)


def of_payment(world: World) -> str:
    return address(world, PAYMENTS, asked_payment(world).payment_id)


def by_link(of: Callable[[World], str], **fields: Any) -> Begin:
    return lambda world: at_link(world, of(world), **fields)


YES = {"decision": "approve"}
NO = {"decision": "decline", "reason": "Not ours"}

# By the name of the address; what comes after a space tells two ways of one form apart.
BEGINNINGS: dict[str, Begin] = {
    "account_login": sign_in,
    "account_login mistyped": mistype,
    "account_logout": signed_in("account_logout"),
    "admin:logout": staff_sign_out,
    "account_reauthenticate": signed_in("account_reauthenticate", password=PASSWORD),
    "account_change_password": signed_in("account_change_password", oldpassword=PASSWORD, **NEW),
    "account_reset_password": forget,
    "account_reset_password_from_key": reset,
    "mfa_authenticate": second_step,
    "mfa_authenticate recovery code": recovery_code,
    "mfa_reauthenticate": reauthenticate_by_code,
    "mfa_activate_totp": activate,
    "mfa_deactivate_totp": deactivate,
    "mfa_generate_recovery_codes": generate,
    "mfa_add_webauthn": add_passkey,
    "mfa_edit_webauthn": of_passkey("mfa_edit_webauthn", name="Other"),
    "mfa_remove_webauthn": of_passkey("mfa_remove_webauthn"),
    "mfa_login_webauthn": enter_by_passkey,
    "mfa_reauthenticate_webauthn": reauthenticate_by_passkey,
    "usersessions_list": end_all_others,
    "end_session": end_other,
    "ask_to_enroll": signed_in("ask_to_enroll"),
    "profile": signed_in("profile", name="Dana Doe"),
    "invitation": join,
    "invitation accepted": accept,
    "confirmation": by_link(of_funding, **YES, typed_amount="50.00"),
    "confirmation declined": by_link(of_funding, **NO),
    "confirmation of a payment": by_link(of_payment, **YES, typed_amount="100.00"),
    "confirmation of a payment declined": by_link(of_payment, **NO),
}
EXEMPT = {
    "account_signup": "people join by invitation: it says so and changes nothing",
    "account_email": "is behind the next line",
    "accounts/email/": "is not offered: 404",
    "account_email_verification_sent": "reads",
    "sso_find": "reads",
    "sso_saml_answer": "judges what a provider says and keeps it in the cache for a minute",
    "account_set_password": "leads to the link that is mailed",
    "account_confirm_email": "nobody's address is asked about, so that no key opens it",
    "account_confirm_login_code": "codes by mail are not offered",
    "confirm/<str:token>": "is the page with a slash at its end",
    "join/<str:token>": "is the page with a slash at its end",
    "healthz": "reads",
    "readyz": "reads",
    "schema": "reads",
    "api/docs": "leads to the reference",
    "^api(?:/|$)": "no such address",
    "": "no such address",
    "admin:index": "reads",
    "admin:app_list": "reads",
    "admin:search": "reads",
    "admin:autocomplete": "reads",
    "admin:jsi18n": "reads",
    "admin:password_change": "reads",
    "admin:password_change_done": "reads",
    "admin:view_on_site": "reads",
    "admin:login": "leads to the common sign-in",
    "admin:(?P<url>.*)$": "no such address",
}
# They keep a session, which is saved by itself after all else.
SESSIONLESS = {"confirmation", "profile"}


def _story(name: str) -> Story:
    keeps_session = name.split()[0] not in SESSIONLESS
    return Story(
        f"account {name}",
        BEGINNINGS[name],
        in_steps=keeps_session,
        sees_sessions=keeps_session,
        finish=World.send_mails,
    )


STORIES = [_story(name) for name in BEGINNINGS]


def forms() -> set[str]:
    """Everything outside the API and the pages of the desk that takes a POST."""
    of_admin = {
        f"admin:{page.name or page.pattern}"
        for page in admin.site.get_urls()
        if isinstance(page, URLPattern)
    }
    return of_admin | taking_posts(but_not=("admin/", "api/v1/"))
