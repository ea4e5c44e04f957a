"""Asking the account holder: the text before the button, and the tick that says yes to it.

The page shows a digest of its text. A tick counts only with the digest of the text that would be
stored now: what changed since it was shown is shown again.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import datetime

from api.addresses import client_address
from dashboard.shell.access import PageRequest
from funding.agreements import Agreement, Wording

_TICK, _DIGEST = "agreed", "agreed_to"
_UNTICKED = "Read this and check the box to continue."
_CHANGED = "The text has changed since you ticked it: read it again."


@dataclass(frozen=True)
class Question:
    """For `components/agreement.html`. `is_optional`: the button works without the tick."""

    text: str
    digest: str
    is_ticked: bool
    error: str = ""
    is_optional: bool = False


def question(
    request: PageRequest, wording: Wording, *, is_due: bool = False, is_optional: bool = False
) -> Question:
    """`is_due`: a button was pressed that needs the tick."""
    is_ticked = _is_ticked(request, wording)
    error = ""
    if is_due and not is_ticked:
        error = _CHANGED if _TICK in request.POST else _UNTICKED
    return Question(
        text=wording.text,
        digest=wording.digest,
        is_ticked=is_ticked,
        error=error,
        is_optional=is_optional,
    )


def answer(request: PageRequest, wording: Wording, *, now: datetime) -> Agreement | None:
    """What was agreed to; None where this text was not ticked."""
    if not _is_ticked(request, wording):
        return None
    return Agreement(wording=wording, accepted_at=now, address=_address(request))


def _is_ticked(request: PageRequest, wording: Wording) -> bool:
    return _TICK in request.POST and request.POST.get(_DIGEST) == wording.digest


def _address(request: PageRequest) -> str:
    """The address that the tick came from; empty where proxies hide it."""
    try:
        return str(ipaddress.ip_address(client_address(request)))
    except ValueError:
        return ""
