"""What people read about the ways to bring money in."""

from __future__ import annotations

from datetime import datetime

from dashboard.shell.method_choice import MethodChoice, MethodText, MethodTexts
from funding.methods import METHODS
from funding.models import FundingMethod
from funding.services.limits import Limits

TEXTS = MethodTexts(
    METHODS,
    {
        FundingMethod.ACH_DEBIT: MethodText("We debit the account. The bank can still return it."),
        FundingMethod.RTP: MethodText(
            "We send a request that you approve at your bank. It can be refused.",
            soon="within seconds of the approval at the bank",
        ),
    },
)


def method_choices(
    limits: Limits, *, mode: str, now: datetime, with_speeds: bool = False
) -> list[tuple[str, MethodChoice]]:
    """For a form of a tenant of `mode` that has these limits."""
    most = limits.per_transaction
    return TEXTS.choices(
        mode=mode, most=lambda method: most[method.name], now=now, with_speeds=with_speeds
    )
