"""What people read about the ways to pay."""

from __future__ import annotations

from datetime import datetime

from dashboard.shell.method_choice import MethodChoice, MethodText, MethodTexts
from payments.methods import METHODS
from payments.models import PaymentMethod

TEXTS = MethodTexts(
    METHODS,
    {
        PaymentMethod.ACH_CREDIT: MethodText(
            "A bank transfer that takes banking days. The bank can still return it."
        ),
        PaymentMethod.RTP: MethodText(
            "Sent right away, at any time of day. It cannot be taken back.",
            soon="within seconds of sending",
        ),
    },
)


def method_choices(*, mode: str, now: datetime) -> list[tuple[str, MethodChoice]]:
    """For a form of a tenant of `mode`."""
    return TEXTS.choices(
        mode=mode, most=lambda method: method.amount_max(mode), now=now, with_speeds=True
    )
