"""Writes what django-allauth reports about sign-ins into the audit log."""

from __future__ import annotations

from typing import Any

from allauth.account import signals as account
from allauth.account.adapter import get_adapter
from allauth.account.authentication import get_authentication_records
from allauth.mfa import signals as mfa
from allauth.mfa.models import Authenticator
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse

from common.clock import utc_now
from tenants import devices, enrolment, proofs, second_factor, session_life
from tenants.emails import queue_new_device_notice
from tenants.models import User
from tenants.services import alarms, closing, sessions, sign_ins

_CHOSE_PASSWORD = "chose_password"  # noqa: S105  # in this browser, who signs in next


@receiver(account.user_logged_in)
def _signed_in(request: HttpRequest, response: HttpResponse, user: User, **_rest: Any) -> None:
    records, now = get_authentication_records(request, user), utc_now()
    session_life.begin(request.session, now=now)
    how = [record.get("type", record["method"]) for record in records]
    sign_ins.succeeded(user_id=user.pk, how=" + ".join(how), now=now)
    has_been_told = request.session.pop(_CHOSE_PASSWORD, "") == user.pk
    if devices.id_of(request, email=user.email) is None and not has_been_told:
        _tell_of_new_device(request, user)
    devices.remember(request, response, email=user.email)
    if user.is_superuser:
        alarms.superuser_signed_in(user, now=now)


def _tell_of_new_device(request: HttpRequest, user: User) -> None:
    queue_new_device_notice(
        user=user,
        user_agent=request.headers.get("User-Agent", ""),
        address=get_adapter().get_client_ip(request),
        now=utc_now(),
    )


@receiver(account.authentication_step_completed)
def _proven(request: HttpRequest, *, reauthenticated: bool = False, **_rest: Any) -> None:
    """A proof that is given after the sign-in counts in the browser that gave it."""
    if reauthenticated:
        proofs.bind(request)


@receiver(mfa.authentication_failed)
def _wrong_code(
    user: User, authenticator: Authenticator, *, reauthentication: bool, **_rest: Any
) -> None:
    failed = sign_ins.proof_failed if reauthentication else sign_ins.failed
    failed(user_id=user.pk, how=str(authenticator.type), now=utc_now())


@receiver([mfa.authenticator_added, mfa.authenticator_removed, mfa.authenticator_reset])
def _second_factor_changed(
    signal: Any, request: HttpRequest, user: User, authenticator: Authenticator, **_rest: Any
) -> None:
    """Also end the person's other sessions: they began without what is asked for now."""
    words = {
        mfa.authenticator_added: "second_factor.added",
        mfa.authenticator_removed: "second_factor.removed",
        mfa.authenticator_reset: "second_factor.renewed",
    }
    sign_ins.account_changed(
        user_id=user.pk, action=words[signal], kind=str(authenticator.type), now=utc_now()
    )
    if signal is mfa.authenticator_added and authenticator.type in second_factor.STRONG:
        proofs.enrolled(request, user=user, authenticator=authenticator)
        enrolment.close(request)
    if signal is mfa.authenticator_removed:
        proofs.forget_removed(request, user=user)
    sessions.end_others(user_id=user.pk, kept=request.session.session_key)


@receiver(account.password_changed)
def _password_changed(user: User, **_rest: Any) -> None:
    sign_ins.account_changed(
        user_id=user.pk, action="password.changed", kind="password", now=utc_now()
    )


@receiver(account.password_reset)
def _password_reset(request: HttpRequest, user: User, **_rest: Any) -> None:
    """The person is mailed about the new password, and so not about this browser as well."""
    request.session[_CHOSE_PASSWORD] = user.pk
    sign_ins.account_changed(
        user_id=user.pk, action="password.reset", kind="password", now=utc_now()
    )
    closing.password_reset(user_id=user.pk, now=utc_now())
