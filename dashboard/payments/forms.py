"""What people type to pay somebody, and what they ask the list for."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.urls import reverse_lazy

from common.forms import TextField
from common.money import format_cents
from dashboard.payments.lines import BADGES, NEEDS_APPROVAL
from dashboard.recipients.choices import RecipientChoices
from dashboard.shell.fields import DollarsField
from dashboard.shell.filter_forms import DaysFilter, between, either
from dashboard.shell.form_tokens import OnceForm
from dashboard.shell.method_choice import MethodChoice
from payments import selectors
from payments.models import (
    DESCRIPTION_LENGTH_MAX,
    PaymentMethod,
)
from payments.states import PaymentStatus

_APPROVAL = "approval"
SHORT_OF_MONEY = "short"
_SEARCH = reverse_lazy("dashboard:recipient_search")


class PayForm(OnceForm):
    """Whom, how much, how. The service has the last word."""

    purpose = "payment"

    recipient = forms.ChoiceField(
        label="To",
        # `autocomplete`: a browser must not choose again who was chosen before a reload.
        widget=forms.Select(attrs={"data-search": _SEARCH, "autocomplete": "off"}),
        error_messages={"required": "Choose whom to pay."},
    )
    amount = DollarsField(
        label="Amount in dollars", least=1, error_messages={"required": "Enter how much to pay."}
    )
    method = forms.ChoiceField(
        label="Method", widget=forms.RadioSelect, initial=PaymentMethod.ACH_CREDIT
    )
    description = TextField(
        label="Description (optional)",
        max_length=DESCRIPTION_LENGTH_MAX,
        required=False,
        help_text="Shown in your lists and sent to the recipient's bank.",
    )
    wait = forms.BooleanField(
        label="Wait if the balance is too low",
        required=False,
        help_text="We then send it when money arrives, in the order of your waiting payments.",
    )

    def __init__(
        self,
        *args: Any,
        recipients: RecipientChoices,
        methods: list[tuple[str, MethodChoice]],
        available: int,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        # Nobody is chosen beforehand: a form that is sent twice in haste would pay the first one.
        self.fields["recipient"].choices = [("", "Choose a recipient"), *recipients.names]  # type: ignore[attr-defined]  # a ChoiceField
        self.has_recipients = bool(recipients.names)
        if recipients.are_cut:
            self.fields[
                "recipient"
            ].help_text = "Only the first 200 names are listed. Recipients has all of them."
        self.fields["method"].choices = methods  # type: ignore[attr-defined]
        self.available = available
        self.fields["amount"].help_text = _what_there_is(available)

    @property
    def is_short(self) -> bool:
        """Whether the balance is too low for any payment to be sent now."""
        return self.available <= 0


def _what_there_is(available: int) -> str:
    if available < 0:
        return f"Nothing is available. The balance is {format_cents(-available)} below zero."
    return f"{format_cents(available)} is available."


class ApprovalLimitForm(forms.Form):
    """Above which amount a second person approves."""

    threshold = DollarsField(
        label="Require approval above (dollars)",
        required=False,
        help_text="Enter 0 to require approval for every payment. Leave it empty to require none.",
    )


class PaymentFilter(DaysFilter):
    """What the list of payments is narrowed to."""

    status = either(
        "Status",
        [
            (_APPROVAL, NEEDS_APPROVAL.label),
            (SHORT_OF_MONEY, "Waiting for money or held back"),
            *((status, BADGES[status].label) for status in PaymentStatus),
        ],
        "Every status",
    )
    recipient = either("Recipient", [], "Everybody")

    field_order = ("status", "recipient", "since", "until")

    def __init__(self, *args: Any, recipients: RecipientChoices, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["recipient"].choices = [("", "Everybody"), *recipients.names]  # type: ignore[attr-defined]  # a ChoiceField

    def apply(self, rows: QuerySet[Any, Any], chosen: dict[str, Any]) -> QuerySet[Any, Any]:
        if chosen.get("status") == _APPROVAL:
            rows = selectors.awaiting_confirmation(rows)
        elif chosen.get("status") == SHORT_OF_MONEY:
            rows = selectors.short_of_money(rows)
        elif status := chosen.get("status"):
            rows = rows.filter(status=status)
        if recipient := chosen.get("recipient"):
            rows = rows.filter(recipient_id=recipient)
        return between(rows, chosen.get("since"), chosen.get("until"))
