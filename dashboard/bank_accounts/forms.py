"""What people type about bank accounts. The account number is never written back into a page."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from django import forms

from common.errors import DomainError
from common.forms import TextField
from dashboard.shell import refusals
from dashboard.shell.form_tokens import OnceForm
from funding import errors
from networks import bank_details, spellings
from networks.bank_details import HOLDER_NAME_MAX
from networks.base import AccountType, HolderType

# What the refusals of the API call our fields.
FIELDS = {
    "accountNumber": "account_number",
    "routingNumber": "routing_number",
    "accountHolderName": "holder_name",
}


# Refusals of a provider for people, who chose an account and never saw a token.
_LINK_REFUSALS = MappingProxyType[type[DomainError], str](
    {
        errors.InvalidLinkToken: "The bank shared no account that we can debit. "
        "Connect it again, and choose a checking or savings account.",
        errors.LinkAccountMismatch: "You did not share this account with us. "
        "Connect the bank again and choose it.",
        errors.LinkNeedsRepair: "Your bank needs you to sign in on its own site first. "
        "Then connect it again.",
        errors.LinkProviderUnavailable: "The bank-linking provider did not answer, "
        "and nothing was added. Connect the bank again in a minute, or add the account by hand.",
    }
)


class _Unrepeated(forms.TextInput):
    """A text field that starts empty, also after an error."""

    def format_value(self, value: Any) -> None:
        return None


class _UsedUp(forms.HiddenInput):
    """A hidden field that a script fills in for one sending; it is never shown again."""

    def format_value(self, value: Any) -> None:
        return None


class BankAccountForm(forms.Form):
    """An account by its numbers, judged all at once: one of them is typed again after an error."""

    holder_name = TextField(
        label="Account holder",
        max_length=HOLDER_NAME_MAX,
        help_text="The name on the account.",
        error_messages={"required": "Enter the name on the account."},
    )
    routing_number = forms.CharField(
        label="Routing number",
        max_length=20,
        widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}),
        error_messages={"required": "Enter the nine digits."},
    )
    account_number = forms.CharField(
        label="Account number",
        max_length=34,
        widget=_Unrepeated(attrs={"autocomplete": "off"}),
        help_text="We encrypt it right away and only ever show its last digits.",
        error_messages={"required": "Enter the account number."},
    )
    account_number_again = forms.CharField(
        label="Account number again",
        max_length=34,
        widget=_Unrepeated(attrs={"autocomplete": "off"}),
        help_text="Banks go by the number, not by the name. Typing it twice catches a typo.",
        error_messages={"required": "Enter the account number a second time."},
    )
    account_type = forms.ChoiceField(
        label="Account type", choices=[(kind.value, kind.value.title()) for kind in AccountType]
    )
    holder_type = forms.ChoiceField(
        label="Held by", choices=[(kind.value, kind.value.title()) for kind in HolderType]
    )

    def clean_holder_name(self) -> str:
        with refusals.of_this_field():
            return bank_details.checked_holder_name(self.cleaned_data["holder_name"])

    def clean_routing_number(self) -> str:
        """Without the spaces that people copy along."""
        with refusals.of_this_field():
            digits = "".join(self.cleaned_data["routing_number"].split())
            return bank_details.checked_routing_number(digits)

    def clean_account_number(self) -> str:
        """Without the spaces that people copy along, of whichever kind."""
        with refusals.of_this_field():
            number = "".join(self.cleaned_data["account_number"].split())
            return bank_details.checked_account_number(number)

    def clean_account_number_again(self) -> str:
        """Compared only with a number that could be an account's; a wrong one has its own error.
        Blanks, hyphens and the case of letters tell no accounts apart."""
        number = self.cleaned_data.get("account_number")
        again = "".join(self.cleaned_data["account_number_again"].split())
        if number and not spellings.is_same(number, again):
            raise forms.ValidationError(
                "This is not the number you entered above. Enter both again."
            )
        return again

    def clean(self) -> dict[str, Any]:
        """The details of one account: the second typing has done its work."""
        self.cleaned_data.pop("account_number_again", None)
        return self.cleaned_data


class PickerForm(forms.Form):
    """The sandbox's bank picker: it plays the provider and hands over one of its tokens."""

    outcome = forms.ChoiceField(
        label="Account",
        choices=[
            ("first", "An account that works"),
            ("second", "Another account that works"),
            ("10001", "Funding is returned R01, insufficient funds"),
            ("20010", "Funding completes, then is returned R10, not authorized"),
            ("30001", "Funding stays on its way"),
            ("login-required", "The bank asks you to sign in again"),
            ("invalid", "The provider refuses its own token"),
        ],
    )
    holder_name = TextField(
        label="Account holder",
        max_length=HOLDER_NAME_MAX,
        error_messages={"required": "Enter the name on the account."},
    )

    @property
    def token(self) -> str:
        return f"processor-sandbox-{self.cleaned_data['outcome']}"


class LinkForm(OnceForm):
    """What the provider's module hands over, and whose account it is."""

    purpose = "bank-link"
    seconds = 4 * 60 * 60  # as long as the module's own token

    public_token = forms.CharField(widget=_UsedUp, max_length=200, required=False)
    account_id = forms.CharField(widget=_UsedUp, max_length=128, required=False)
    holder_name = TextField(
        label="Account holder",
        max_length=HOLDER_NAME_MAX,
        help_text="The name on the account.",
        error_messages={"required": "Enter the name on the account."},
    )

    def clean(self) -> dict[str, Any] | None:
        found = super().clean()
        if not (self.cleaned_data.get("public_token") and self.cleaned_data.get("account_id")):
            self.add_error(None, "Connect a bank first. You have not chosen an account yet.")
        return found


def add_link_refusal(form: PickerForm | LinkForm, refusal: DomainError) -> None:
    """Show what the provider refused, in words for people."""
    if words := _LINK_REFUSALS.get(type(refusal)):
        form.add_error(None, words)
    else:
        refusals.add_to(form, refusal, fields=FIELDS)


class DepositsForm(forms.Form):
    """The two deposits as the statement shows them."""

    first = forms.IntegerField(
        label="First deposit in cents",
        min_value=1,
        max_value=99,
        error_messages={"required": "Enter the cents of the first deposit."},
    )
    second = forms.IntegerField(
        label="Second deposit in cents",
        min_value=1,
        max_value=99,
        error_messages={"required": "Enter the cents of the second deposit."},
    )
