"""E-mails about accounts and teams. What they say is put together when they are sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.urls import reverse

from tenants import browsers, enrolment, link_tokens
from tenants.models import OutgoingEmail, User
from tenants.services import emails

PASSWORD_RESET = "password_reset"  # noqa: S105  # a template's name
STAFF_ENROLMENT = "staff_enrolment"
ENROLMENT = "enrolment"
ACCOUNT_CHANGED = "account_changed"
ADDRESS_CHANGED = "address_changed"
ACCESS_BY_SUPPORT = "access_by_support"
# django-allauth's names of changes, in our words.
_CHANGES = {
    "totp_activated": "An authenticator app was added",
    "totp_deactivated": "The authenticator app was removed",
    "recovery_codes_generated": "New recovery codes were created",
    "webauthn_added": "A passkey was added",
    "webauthn_removed": "A passkey was removed",
    "password_changed": "Your password was changed",
    "password_reset": "Your password was reset",
    "identity_linked": "Single sign-on was connected",
    "account_closed": "Our support closed your account",
    "account_reopened": "Our support reopened your account",
    "second_factor_reset": "Our support removed your passkeys, authenticator app and codes",
}
_USELESS_AFTER = timedelta(hours=1)


def queue_password_reset(*, user: User, now: datetime) -> None:
    """Send this person a link to choose a new password."""
    emails.queue(
        tenant_id=None,
        to=user.email,
        template=PASSWORD_RESET,
        context={"user_id": user.pk},
        now=now,
    )


def queue_enrolment_link(*, user: User, now: datetime) -> None:
    """Send this member of staff the link to set up a second factor."""
    emails.queue(
        tenant_id=None,
        to=user.email,
        template=STAFF_ENROLMENT,
        context={"user_id": user.pk},
        now=now,
    )


def queue_own_enrolment_link(*, user: User, browser: str, address: str, now: datetime) -> None:
    """Send this person the link to set up a second factor that a browser at `address` asked for."""
    emails.queue(
        tenant_id=None,
        to=user.email,
        template=ENROLMENT,
        context={
            "user_id": user.pk,
            "browser": browser,
            "address": address,
            "at": now.isoformat(),
        },
        now=now,
    )


def queue_account_notice(
    *,
    user: User,
    change: str,
    address: str,
    approves_from: datetime | None = None,
    now: datetime,
) -> None:
    """Tell this person that their way of signing in changed; `change` is django-allauth's name.
    `approves_from` says since when they approve again, if they do not because of it."""
    if change not in _CHANGES:
        return
    context = {
        "what": _CHANGES[change],
        "at": now.isoformat(),
        "address": address,
        "approves_from": approves_from.isoformat() if approves_from else "",
        "email": user.email,
    }
    emails.queue(tenant_id=None, to=user.email, template=ACCOUNT_CHANGED, context=context, now=now)


def queue_new_device_notice(*, user: User, user_agent: str, address: str, now: datetime) -> None:
    """Tell this person that somebody signed in with a browser that was never used before."""
    context = {
        "what": "Somebody signed in with a new browser",
        "at": now.isoformat(),
        "address": f"{address}, {browsers.named(user_agent)}",
        "email": user.email,
    }
    emails.queue(tenant_id=None, to=user.email, template=ACCOUNT_CHANGED, context=context, now=now)


def queue_address_notices(*, before: str, after: str, now: datetime) -> None:
    """Tell both addresses that one replaced the other. The old one does not learn the new one."""
    for address in (before, after):
        context = {"before": before, "at": now.isoformat(), "email": address}
        emails.queue(tenant_id=None, to=address, template=ADDRESS_CHANGED, context=context, now=now)


def queue_access_notices(
    *,
    to: Sequence[str],
    tenant_id: str | None,
    facts: Sequence[tuple[str, str]],
    waits_until: datetime | None,
    is_over: bool,
    invited: str,
    now: datetime,
) -> None:
    """Tell these addresses that our staff propose access, not before `waits_until`; None: that they
    gave it, or only `invited` somebody (a sentence), or that `is_over` without anything done."""
    for address in to:
        context = {
            "facts": list(facts),
            "waits_until": waits_until.isoformat() if waits_until else "",
            "is_over": is_over,
            "invited": invited,
            "at": now.isoformat(),
            "email": address,
        }
        emails.queue(
            tenant_id=tenant_id, to=address, template=ACCESS_BY_SUPPORT, context=context, now=now
        )


def _addressee(email: OutgoingEmail) -> User | None:
    """The person for whom a link would open an account. It goes to their own address alone,
    whatever somebody wrote into the outbox."""
    people = User.objects.filter(is_active=True, email=email.to).defer("password")
    return people.filter(pk=email.context["user_id"]).first()


@emails.builds_context(PASSWORD_RESET)
def _password_reset(email: OutgoingEmail, now: datetime) -> Mapping[str, Any] | None:
    """Make the link, which is never stored, and lives from now on. None, so that nothing is sent,
    for a closed account or once nobody waits for it any more."""
    user = _addressee(email)
    state = link_tokens.state_for(email)
    if user is None or state is None or now - email.created_at > _USELESS_AFTER:
        return None
    token = link_tokens.ResetTokens(state=state).make_token(user)
    path = reverse("account_reset_password_from_key", kwargs={"uidb36": user.pk, "key": token})
    return {"email": user.email, "link": settings.BASE_URL + path}


@emails.builds_context(STAFF_ENROLMENT)
def _staff_enrolment(email: OutgoingEmail, now: datetime) -> Mapping[str, Any] | None:
    """Make the link, which is never stored. None for somebody who left, or once it is late."""
    user = _addressee(email)
    state = link_tokens.state_for(email)
    is_late = now - email.created_at > _USELESS_AFTER
    if user is None or state is None or not user.is_staff or is_late:
        return None
    return {"email": user.email, "link": enrolment.link(user, state=state)}


@emails.builds_context(ENROLMENT)
def _enrolment(email: OutgoingEmail, now: datetime) -> Mapping[str, Any] | None:
    """Make the link, which is never stored. None for a closed account, or once it is late."""
    user = _addressee(email)
    state = link_tokens.state_for(email)
    is_late = now - email.created_at > timedelta(minutes=enrolment.OWN_LINK_MINUTES)
    if user is None or state is None or is_late:
        return None
    return {
        "email": user.email,
        "link": enrolment.link(user, browser=email.context["browser"], state=state),
        "minutes": enrolment.OWN_LINK_MINUTES,
        "address": email.context["address"],
        "at": email.context["at"],
    }
