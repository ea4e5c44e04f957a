"""Codes of an authenticator app (TOTP): a step early or late still counts, and each counts once.

A phone's clock is a little off, and typing takes its time, so RFC 6238 § 5.2 lets a code of the
step before or after count. It then counts for a minute and a half, in which django-allauth would
let it count twice: its note in the cache lasts for one step. Here the row keeps the last step that
was used. Only a later one counts, as the RFC demands, whatever a cache forgets.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa import app_settings, signals
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from allauth.mfa.utils import decrypt
from django.db.models import F, Func, JSONField, Q, Value
from django.dispatch import receiver
from django.http import HttpRequest

from common.clock import utc_now

_LAST = "last_step"  # in the row's data: the number of half minutes since 1970


def take(app: Authenticator, *, code: str, now: datetime) -> bool:
    """Whether the code is right and was not used; from then on it is. One statement."""
    step = _step_of(code, secret=decrypt(app.data["secret"]), now=now)
    return step is not None and _use(app.pk, step)


def _step_of(code: str, *, secret: str, now: datetime) -> int | None:
    """The step that has this code, at most MFA_TOTP_TOLERANCE steps from `now`."""
    this, off = int(now.timestamp()) // app_settings.TOTP_PERIOD, app_settings.TOTP_TOLERANCE
    for step in range(this - off, this + off + 1):
        expected = format_hotp_value(hotp_value(secret, step))
        if compare_user_code(actual=code, expected=expected):
            return step
    return None


def _use(pk: int, step: int) -> bool:
    """Note the step unless it, or a later one, was used. Of many at once, one is told True."""
    used = Q(data__has_key=_LAST, data__last_step__gte=step)
    noted = Func(
        F("data"),
        Value([_LAST]),
        Value(step, output_field=JSONField()),
        function="jsonb_set",
        template="jsonb_set(%(expressions)s)",
        output_field=JSONField(),
    )
    return bool(Authenticator.objects.filter(~used, pk=pk).update(data=noted))


@receiver(signals.authenticator_added, dispatch_uid="spend_first_code")
def _spend_first(request: HttpRequest, authenticator: Authenticator, **_rest: Any) -> None:
    """The code that showed that the app is set up has been used with that."""
    if authenticator.type == Authenticator.Type.TOTP:
        take(authenticator, code=request.POST.get("code", ""), now=utc_now())
