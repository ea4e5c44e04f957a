"""Admin pages for proposals: one member of staff proposes, another one decides."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, ClassVar, Protocol

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from unfold.widgets import UnfoldAdminTextInputWidget

from common import days, lookalikes, staff_actions
from common.admin import ServiceAdmin, amount
from common.clock import utc_now
from common.database import undisclosed
from common.money import format_cents, parse_dollars
from tenants import actors, standing
from tenants.actors import Actor
from tenants.models import User
from tenants.standing import Proposal


class Deciding(Protocol):
    """The services of one kind of proposal."""

    @property
    def propose(self) -> Callable[..., Any]: ...
    @property
    def approve(self) -> Callable[..., object]: ...
    @property
    def reject(self) -> Callable[..., object]: ...


# What `facts` tell of an open proposal above its columns.
_TOLD_ABOVE = frozenset({"reason", "proposed_by", "proposed_at"})


class DollarsField(forms.CharField):
    """An amount as people write it, in cents."""

    widget = UnfoldAdminTextInputWidget

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=30, **kwargs)

    def clean(self, value: Any) -> int:
        cents = parse_dollars(super().clean(value))
        if not cents:
            raise forms.ValidationError("An amount such as 1,234.56.")
        return cents


class ProposalAdmin(ServiceAdmin):
    """The admin of one kind of proposal, whose rows have `decision` and `proposed_by`, and mostly
    an `amount` (cents).

    `what` ends the names of both permissions, `propose_…` and `approve_…`. `terms` are the fields
    of `propose_form`, `outcome` is the column that an approval fills. `approved` is the title of
    the page that approves, and the message afterwards.
    """

    services: ClassVar[Deciding]
    propose_form: ClassVar[type[forms.ModelForm[Any]]]
    what: ClassVar[str]
    terms: ClassVar[tuple[str, ...]]
    outcome: ClassVar[str]
    approved: ClassVar[tuple[str, str]]

    change_form_before_template = "admin/proposal.html"
    list_select_related: Any = ("tenant", "proposed_by", "decided_by")
    actions_detail: Any = ("approve", "reject")

    def proposed(self, chosen: dict[str, Any]) -> dict[str, Any]:
        """The arguments of `services.propose` in a valid form, besides who proposes and when."""
        return chosen

    def figure(self, proposal: Any) -> str:
        """What the button says behind its words: the amount, unless there is none."""
        return f": {format_cents(proposal.amount)}"

    def consequences(self, proposal: Any) -> str:
        """What an approval does, in words for the person who decides."""
        raise NotImplementedError

    def outcome_words(self, proposal: Any) -> str:
        """What an approval has done, behind the proposal's id, for the person who approved it."""
        return self.approved[1]

    def warning(self, proposal: Any) -> str:
        """What to look at twice in texts that somebody else chose; mostly empty."""
        whose = proposal.tenant.name if proposal.tenant else ""
        return lookalikes.warning(whose, proposal.reason)

    def obstacle(self, proposal: Any, person: User) -> str:
        """Why this person cannot decide it, whenever that is; empty where they can."""
        return standing.obstacle(self._asked(proposal), person)

    def _asked(self, proposal: Any) -> Proposal:
        return Proposal(
            power=self._power("approve"),
            proposed_by=str(proposal.proposed_by_id),
            proposed_at=proposal.proposed_at,
            proposes=self._power("propose"),
        )

    def waits_until(self, _proposal: Any) -> datetime | None:
        """The earliest moment of an approval; None: it can be approved at once."""
        return None

    def ends_at(self, _proposal: Any) -> datetime | None:
        """When it ends by itself; None: it stays open until somebody decides."""
        return None

    def facts(self, proposal: Any) -> list[tuple[str, str]]:
        """Who asked, why, and when it can be decided; before that, what to look at twice."""
        until, ends = self.waits_until(proposal), self.ends_at(proposal)
        warning = self.warning(proposal)
        return [
            *([("Look at the names", warning)] if warning else []),
            ("Proposed by", f"{proposal.proposed_by.email}, {days.words(proposal.proposed_at)}"),
            ("Reason", proposal.reason),
            ("Can be approved", f"from {days.words(until)}" if until else "at once"),
            ("Ends", days.words(ends) if ends else "when somebody decides"),
        ]

    def standing(self, proposal: Any, reader: User) -> list[tuple[str, str]]:
        """What is so of an open proposal, for whoever looks at it; empty once it is decided."""
        if proposal.decision != "open":
            return []
        who = standing.who_can(
            self._asked(proposal), obstacle=lambda each: self.obstacle(proposal, each)
        )
        return [
            *self.facts(proposal),
            ("Who can approve", who),
            ("You", self._of(proposal, reader)),
        ]

    def _of(self, proposal: Any, reader: User) -> str:
        """Whether the reader can approve it, and why not."""
        if not reader.has_perm(self._power("approve")):
            return "You have no role that approves it."
        if why := self.obstacle(proposal, reader):
            return why
        until = self.waits_until(proposal)
        if until is not None and utc_now() < until:
            return f"You can approve it from {days.words(until)}."
        return "You can approve it."

    @amount
    @admin.display(description="amount", ordering="amount")
    def dollars(self, proposal: Any) -> str:
        return format_cents(proposal.amount)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._may("propose", request)

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_approve_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return self._may("approve", request)

    def get_form(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        form = {} if obj else {"form": self.propose_form}
        return super().get_form(request, obj, **{**form, **kwargs})

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return self.terms
        terms = ["dollars" if name == "amount" else name for name in self.terms]
        whose = [] if "tenant" in terms else ["tenant"]
        decided = ("decision", "decided_by", "decided_at", "decision_note", self.outcome)
        fields = (*terms, *whose, "proposed_by", "proposed_at", *decided)
        told = _TOLD_ABOVE if obj.decision == "open" else frozenset()
        return tuple(name for name in fields if name not in told)

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> Any:
        return ("dollars",) if obj and "amount" in self.terms else ()

    def get_actions_detail(self, request: HttpRequest, object_id: str) -> Any:
        """Offer the decision only for open proposals, and to nobody for their own."""
        open_ones = self.model._default_manager.filter(pk=object_id, decision="open")
        if not open_ones.exclude(proposed_by=str(request.user.pk)).exists():
            return []
        return super().get_actions_detail(request, object_id)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        terms = self.proposed(form.cleaned_data)
        proposal = self.services.propose(**terms, actor=_actor(request), now=utc_now())
        obj.pk = proposal.pk
        if warning := self.warning(proposal):
            messages.warning(request, warning)

    @staff_actions.own_page_action("Approve", permission="approve")
    def approve(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self._ask(
            request, object_id, self.approved[0], self.outcome_words, self.services.approve
        )

    @staff_actions.own_page_action("Reject", permission="approve")
    def reject(self, request: HttpRequest, object_id: str) -> HttpResponse:
        rejected = "is rejected: everything stays as it was."
        return self._ask(
            request, object_id, "Reject", lambda _proposal: rejected, self.services.reject
        )

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        rows = undisclosed.of(self.model._default_manager.select_related("tenant"))
        proposal: Any = rows.filter(pk=unquote(object_id)).first()
        reader = request.user
        told = []
        if proposal is not None and isinstance(reader, User):
            told = self.standing(proposal, reader)
        context = {**(extra_context or {}), "standing": told}
        answer: HttpResponse = super().change_view(request, object_id, form_url, context)
        return answer

    def _may(self, act: str, request: HttpRequest) -> bool:
        return request.user.has_perm(self._power(act))

    def _power(self, act: str) -> str:
        return f"{self.opts.app_label}.{act}_{self.what}"

    def _ask(
        self,
        request: HttpRequest,
        object_id: str,
        title: str,
        done: Callable[[Any], str],
        decide: Callable[..., object],
    ) -> HttpResponse:
        rows = undisclosed.of(self.model._default_manager.select_related("tenant"))
        proposal: Any = get_object_or_404(rows, pk=object_id)
        decision = staff_actions.StaffAction(
            title=title,
            consequences=self.consequences(proposal),
            button=f"{title}{self.figure(proposal)}",
            done=done(proposal),
            facts=self.facts(proposal),
            act=lambda row, note: decide(
                proposal_id=row.pk, note=note, actor=_actor(request), now=utc_now()
            ),
        )
        return staff_actions.ask_about_one(self, request, proposal, decision)


def _actor(request: HttpRequest) -> Actor:
    return actors.staff(str(request.user.pk))
