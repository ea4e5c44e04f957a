"""What people type about somebody to pay again and again."""

from __future__ import annotations

from django import forms

from common.forms import TextField
from dashboard.bank_accounts.forms import BankAccountForm
from payments.models import NICKNAME_LENGTH_MAX


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
