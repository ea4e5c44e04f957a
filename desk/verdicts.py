"""What a second person makes of what somebody proposed: a page with two buttons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest

from common.clock import utc_now
from common.errors import StaffRefusal
from desk.access import doer_of


@dataclass(frozen=True)
class Verdict:
    """What a button does, and the sentence that says that it is done. `act` takes what is decided
    about, `doer` and `now`, and raises StaffRefusal."""

    act: Callable[..., object]
    done: str


def decide(
    request: HttpRequest, *, yes: Verdict, no: Verdict, word: str = "approve", **subject: object
) -> bool:
    """Do what the pressed button says, and tell whoever pressed it; False if it was refused.

    `word` is the value of the button that agrees. `subject` is what is decided about, by the name
    that the acts give it.
    """
    verdict = yes if request.POST.get("decision") == word else no
    try:
        verdict.act(**subject, doer=doer_of(request), now=utc_now())
    except StaffRefusal as refusal:
        messages.error(request, f"{refusal.detail} {refusal.advice}".strip())
        return False
    messages.success(request, verdict.done)
    return True
