"""What people type about somebody to pay again and again."""

from __future__ import annotations

from django import forms
from django.db.models import QuerySet

from common.forms import TextField
from dashboard.bank_accounts.forms import BankAccountForm
from payments import selectors
from payments.models import NICKNAME_LENGTH_MAX, Recipient

_SEARCH_LENGTH_MAX = 100


class RecipientForm(BankAccountForm):
    """An account to pay, by its numbers."""

    nickname = TextField(
        label="Nickname (optional)",
        max_length=NICKNAME_LENGTH_MAX,
        required=False,
        help_text="The recipient never sees it.",
    )


class NicknameForm(forms.Form):
    nickname = TextField(
        label="Nickname",
        max_length=NICKNAME_LENGTH_MAX,
        required=False,
        help_text="The recipient never sees it. Leave it empty to use the name on the account.",
    )


class RecipientSearch(forms.Form):
    """What was typed to find somebody to pay."""

    q = TextField(label="Recipient", required=False, max_length=_SEARCH_LENGTH_MAX)

    def found(self, *, tenant_id: str) -> QuerySet[Recipient]:
        """Those of the tenant that can be paid; none while the text makes no sense."""
        if not self.is_valid():
            return Recipient.objects.none()
        return selectors.recipients_to_pay(self.cleaned_data["q"], tenant_id=tenant_id)
