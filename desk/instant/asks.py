"""Requests for a return of funds: one person says what to answer, another one agrees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any

from django import forms
from django.db import transaction
from unfold.widgets import UnfoldAdminSelectWidget

from common.crypto import Undecryptable
from common.errors import NotFound
from common.ids import is_id
from desk import doers
from desk.doers import Doer
from desk.forms import ReasonField
from networks.instant import giving_back
from networks.instant.giving_back import REASONS, AskRefused
from networks.instant.models import ReturnAsk
from networks.instant.rails import NoTerms
from networks.instant.states import AskStatus
from networks.instant.terms import InvalidTerms

PROPOSES = "instant.propose_returnask"
APPROVES = "instant.approve_returnask"
GIVES = "give"
TONES: Mapping[str, str] = MappingProxyType(
    {
        AskStatus.OPEN: "warn",
        AskStatus.PROPOSED: "warn",
        AskStatus.REFUSED: "neutral",
        AskStatus.GIVEN_BACK: "good",
    }
)
# Why another bank asks, in codes of ISO 20022 (camt.056).
ASKED: Mapping[str, str] = MappingProxyType(
    {
        "AC03": "The account was the wrong one",
        "AGNT": "The bank was the wrong one",
        "AM09": "The amount was wrong",
        "CURR": "The currency was wrong",
        "CUST": "The payer asks for it",
        "CUTA": "The payment could not be handled",
        "DUPL": "It was sent twice",
        "FRAD": "The payment was fraud",
        "TECH": "A technical fault sent it",
        "UPAY": "The payment was not due",
        "WNTB": "It breaks the warranty of a request for payment",
    }
)
_NO_TERMS = "The rail has no terms in force, or its account cannot be read: call a developer."


class AnswerForm(forms.Form):
    """What the answer is to be."""

    answer = forms.ChoiceField(
        choices=[
            ("", "Choose"),
            (GIVES, "Give the money back"),
            *((code, f"Keep it. {words} ({code})") for code, words in REASONS.items()),
        ],
        label="Answer",
        widget=UnfoldAdminSelectWidget,
    )
    reason = ReasonField(label="Why, for your colleague")


@dataclass
class First:
    """Who proposed what is to be answered, and when."""

    proposed_by: str
    proposed_at: datetime


def first_of(ask: ReturnAsk) -> First:
    """Of a request to which an answer is proposed."""
    if ask.proposed_at is None:
        raise AskRefused("Nobody has said yet what the answer is to be.")
    return First(ask.proposed_by, ask.proposed_at)


def why(ask: ReturnAsk) -> str:
    """`It was sent twice (DUPL)`."""
    known = ASKED.get(ask.code)
    return f"{known} ({ask.code})" if known else ask.code or "No reason given"


def proposal(ask: ReturnAsk) -> str:
    """What the answer is to be, or was; empty before anybody said so."""
    if ask.gives_back is None:
        return ""
    return "Give the money back" if ask.gives_back else f"Keep it. {REASONS[ask.reason_code]}"


def to_do(ask: ReturnAsk) -> str:
    """What comes next; empty once it was answered."""
    return {
        AskStatus.OPEN: "Say whether the money is given back; a colleague agrees",
        AskStatus.PROPOSED: "Another person than who proposed it approves or rejects",
    }.get(AskStatus(ask.status), "")


@transaction.atomic
def propose(*, ask: ReturnAsk, answer: str, reason: str, doer: Doer, now: datetime) -> None:
    """Raises AskRefused."""
    gives_back = answer == GIVES
    proposed = giving_back.propose(
        ask.pk,
        gives_back=gives_back,
        reason_code="" if gives_back else answer,
        why=reason,
        by=doer.name,
        now=now,
    )
    _record("proposed", proposed, doer, now, note=reason, code=proposed.reason_code)


@transaction.atomic
def approve(*, ask: ReturnAsk, seen: str, doer: Doer, now: datetime) -> None:
    """Raises AskRefused, NotASecondPerson, ProposerLeft."""
    if not seen:
        raise AskRefused("Look at what is proposed first.")
    try:
        approved = giving_back.confirm(ask.pk, by=doer.name, now=now, seen=seen)
    except (NoTerms, InvalidTerms, Undecryptable) as error:
        raise AskRefused(_NO_TERMS) from error
    doers.require_second(doer, APPROVES, first_of(approved), proposes=PROPOSES)
    _record("approved", approved, doer, now)


@transaction.atomic
def reject(*, ask: ReturnAsk, seen: str, doer: Doer, now: datetime) -> None:
    """Raises AskRefused."""
    if ask.proposed_by == doer.name:
        raise AskRefused("A colleague has to decide.")
    giving_back.turn_down(ask.pk, now=now, seen=seen)
    _record("rejected", ask, doer, now)


@transaction.atomic
def take_back(*, ask: ReturnAsk, seen: str, doer: Doer, now: datetime) -> None:
    """Whoever proposed an answer thinks better of it. Raises AskRefused."""
    if ask.proposed_by != doer.name:
        raise AskRefused("Only who proposed it takes it back.")
    giving_back.turn_down(ask.pk, now=now, seen=seen)
    _record("taken_back", ask, doer, now)


def found(ask_id: str) -> ReturnAsk:
    """Raises NotFound."""
    rows = ReturnAsk.objects.select_related("message", "conversation", "conversation__original")
    rows = rows.defer("message__content_token")
    ask = rows.filter(pk=ask_id).first() if is_id(ask_id, "ira") else None
    if ask is None:
        raise NotFound("There is no such request.")
    return ask


def _record(
    what: str, ask: ReturnAsk, doer: Doer, now: datetime, *, note: str = "", **said: Any
) -> None:
    details = {"rail": ask.rail_id, "amount": ask.amount, "givesBack": ask.gives_back, **said}
    doers.record(doer, f"return_ask.{what}", ask.pk, now=now, note=note, **details)
