"""What people type to add money, and the token that lets one form add it only once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from common import ids
from dashboard.bank_accounts import authorization as bank_authorization
from dashboard.bank_accounts.names import account_name
from dashboard.shell import form_tokens
from dashboard.shell.fields import DollarsField
from dashboard.shell.method_choice import MethodChoice, method_and_speed
from funding.models import FundingMethod, FundingSource
from networks.base import Speed

_PURPOSE = "topup"


class TopUpForm(forms.Form):
    """How much, from where, how. The service has the last word on all three."""

    amount = DollarsField(
        label="Amount in dollars", least=1, error_messages={"required": "Enter how much to add."}
    )
    source = forms.ChoiceField(label="From", error_messages={"required": "Choose a bank account."})
    method = forms.ChoiceField(
        label="Method", widget=forms.RadioSelect, initial=FundingMethod.ACH_DEBIT
    )
    token = forms.CharField(widget=forms.HiddenInput, max_length=500, required=False)

    def __init__(
        self,
        *args: Any,
        sources: Sequence[FundingSource],
        methods: list[tuple[str, MethodChoice]],
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._accounts = {row.pk: row for row in sources}
        self.fields["source"].choices = [(row.pk, account_name(row)) for row in sources]  # type: ignore[attr-defined]  # a ChoiceField
        self.fields["method"].choices = methods  # type: ignore[attr-defined]

    @property
    def account(self) -> FundingSource | None:
        """The one that is chosen, valid or not; before that, the one the form begins with."""
        chosen = self.data.get("source") if self.is_bound else next(iter(self._accounts), None)
        return self._accounts.get(chosen or "")

    @property
    def way(self) -> tuple[str, Speed]:
        """The method and speed that are chosen; an ACH debit before that."""
        chosen = getattr(self, "cleaned_data", {}).get("method")
        return method_and_speed(chosen or FundingMethod.ACH_DEBIT)

    def clean_source(self) -> str:
        if (account := self.account) is not None and account.authorization_ended_at is not None:
            raise forms.ValidationError(bank_authorization.REFUSAL)
        return str(self.cleaned_data["source"])


def new_token(*, tenant_id: str) -> str:
    """Names the funding that this form may start: sent twice, it starts only one."""
    return form_tokens.new(ids.new("ftx"), purpose=_PURPOSE, tenant_id=tenant_id)


def funding_id_of(token: str, *, tenant_id: str) -> str | None:
    """The funding of a form shown for this tenant within a day; None for any other token."""
    return form_tokens.what_of(token, purpose=_PURPOSE, tenant_id=tenant_id)
