"""Asks who acts to prove once more who they are, where the last proof is too old.

The page that asks carries the fields of the form that was sent, and sends them again together with
the proof: what was typed is never lost, and no server keeps it. Pages of tenants say
`tenant_form(..., needs_proof=True)`, or raise ProofNeeded where only the transaction knows; at the
desk everything that changes something is asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.account.forms import ReauthenticateForm as PasswordForm
from allauth.account.internal.flows.reauthentication import reauthenticate_by_password
from allauth.mfa.webauthn.forms import ReauthenticateWebAuthnForm as PasskeyForm
from allauth.mfa.webauthn.internal import auth as passkeys
from django import forms
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode

from common.clock import utc_now
from common.database import job_doors
from tenants import proofs, second_factor
from tenants.second_factor_forms import ReauthenticateForm as CodeForm
from tenants.sso import reach
from tenants.sso.connections import Connection

_READING = ("GET", "HEAD", "OPTIONS")
_PREFIX = "proof"
_FIELDS = {f"{_PREFIX}-{name}": name for name in ("password", "code", "credential")}
_NOT_CARRIED = {*_FIELDS, proofs.TOKEN_FIELD, "csrfmiddlewaretoken"}
_NOT_REPORTED = {*_FIELDS, proofs.TOKEN_FIELD}


def asks(request: HttpRequest) -> HttpResponse | None:
    """The page that asks for a proof, or None: nothing is changed, the last proof is recent enough,
    or this request brings one. A matter of sign-in, whichever login the page works under."""
    with job_doors.outside():
        return _asks(request)


def _asks(request: HttpRequest) -> HttpResponse | None:
    if request.method in _READING:
        return None
    if proofs.is_recent(request, now=utc_now()):
        proofs.note_second_click(request)
        return None
    forms_of_proof = _forms(request)
    sent = next((name for name in _FIELDS if name in request.POST), None)
    if sent is None:
        return _page(request, forms_of_proof)
    form = forms_of_proof.get(_FIELDS[sent])
    if form is None or not form.is_valid():
        return _page(request, forms_of_proof)
    _note(request, form)
    request.POST = _carried(request)  # type: ignore[assignment]  # Django's request has a setter
    return None


def needs_proof(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A view whose changes are made by somebody who proved recently who they are."""

    @functools.wraps(view)
    def proven(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        keep_from_reports(request)
        return asks(request) or view(request, *args, **kwargs)

    return proven


def needs_recent_proof(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A page that is shown to somebody who proved recently who they are: who proves it at a
    provider of single sign-on is sent there."""
    by_own_proof = reauthentication_required(view)

    @functools.wraps(view)
    def proven(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        with job_doors.outside():
            connection = _connection(request)
            is_stale = connection is not None and not proofs.is_recent(request, now=utc_now())
        if connection is not None and is_stale:
            asked = urlencode({"again": "", REDIRECT_FIELD_NAME: request.get_full_path()})
            return redirect(f"{reverse('sso_start', args=[connection.id])}?{asked}")
        answer: HttpResponseBase = by_own_proof(request, *args, **kwargs)
        return answer

    return proven


def _connection(request: HttpRequest) -> Connection | None:
    """Where the person proves it: at the provider that this session began at, if they have no
    second factor of ours. One query at most."""
    connection = reach.of_session(request)
    if connection is None or second_factor.is_set_up(user_id=str(request.user.pk)):
        return None
    return connection


def keep_from_reports(request: HttpRequest) -> None:
    """Leave the proof out of reports of errors, beside what the view keeps from them by Django's
    `sensitive_post_parameters`, which knows one list."""
    kept = getattr(request, "sensitive_post_parameters", ())
    if kept != "__ALL__":
        request.sensitive_post_parameters = _NOT_REPORTED.union(kept)  # type: ignore[attr-defined]  # as Django does


def _forms(request: HttpRequest) -> dict[str, forms.Form]:
    """By their field, the ways in which this person can prove it: the password for who has no
    second factor, and none for who proves it at a provider."""
    user, types = request.user, second_factor.types_of(user_id=str(request.user.pk))
    values: dict[str, Any] = {"user": user, "prefix": _PREFIX}
    ways: dict[str, type[forms.Form]] = {}
    if "totp" in types:
        ways["code"] = CodeForm
    if "webauthn" in types:
        ways["credential"] = PasskeyForm
    if "recovery_codes" in types:  # few, and for who lost the other: the last to be asked for
        ways.setdefault("code", CodeForm)
    if not ways and reach.of_session(request) is None:
        ways["password"] = PasswordForm
    return {
        field: way(data=request.POST if f"{_PREFIX}-{field}" in request.POST else None, **values)
        for field, way in ways.items()
    }


def _note(request: HttpRequest, form: forms.Form) -> None:
    if isinstance(form, PasswordForm):
        reauthenticate_by_password(request)
    else:
        form.save()  # type: ignore[attr-defined]  # allauth's forms note what they proved


def _carried(request: HttpRequest) -> QueryDict:
    """What was sent, without the proof."""
    fields = request.POST.copy()
    for name in _FIELDS:
        fields.pop(name, None)
    return fields


def _page(request: HttpRequest, ways: dict[str, forms.Form]) -> HttpResponse:
    values = {
        "ways": ways,
        "connection": None if ways else reach.of_session(request),
        "fields": [
            (name, value)
            for name, values in request.POST.lists()
            if name not in _NOT_CARRIED
            for value in values
        ],
        "token": (proofs.TOKEN_FIELD, proofs.new_token()),
        "address": request.get_full_path(),
    }
    if "credential" in ways:
        values["js_data"] = {"request_options": passkeys.begin_authentication(request.user)}
    answer = render(request, "dashboard/shell/step_up.html", values, status=403)
    answer["Cache-Control"] = "private, no-store"
    return answer
