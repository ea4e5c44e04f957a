"""What an API key says that the account holder agreed to."""

from __future__ import annotations

from typing import Any

from api.fields import AddressField, CentsField, InstantField, LinesField, StrictChoiceField
from api.serializers import StrictSerializer
from funding import agreements
from funding.agreements import Agreement
from funding.models import AuthorizationKind
from funding.models.authorizations import TEXT_MAX


class AuthorizationIn(StrictSerializer):
    """The account holder agreed, somewhere else, to be debited. Needed for individuals' accounts of
    live tenants; kept with the key that says so."""

    type = StrictChoiceField(
        AuthorizationKind.values,
        source="kind",
        help_text="`single`: one top-up. `recurring`: every debit of the account until it ends.",
    )
    text = LinesField(max_length=TEXT_MAX, help_text="As it was shown to the account holder.")
    acceptedAt = InstantField(
        source="accepted_at", help_text="When the account holder agreed; not in the future."
    )
    ip = AddressField(source="address", help_text="The network address the agreement came from.")
    maxAmount = CentsField(
        source="amount_max",
        required=False,
        allow_null=True,
        default=None,
        help_text="Cents: the most that the text allows for one debit, if it names an amount.",
    )

    def to_internal_value(self, data: Any) -> Agreement:
        values = super().to_internal_value(data)
        return agreements.asserted(**{**values, "kind": AuthorizationKind(values["kind"])})
