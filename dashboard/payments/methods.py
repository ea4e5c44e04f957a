"""What people read about the ways to pay."""

from __future__ import annotations

from datetime import datetime

from dashboard.shell.method_choice import MethodChoice, MethodText, MethodTexts
from payments import automatic
from payments.methods import METHODS
from payments.models import AUTO, Payment, PaymentMethod

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


_AUTOMATIC = "Automatic"


def words(payment: Payment) -> str:
    """How a payment goes, or went at last: `Automatic, by ACH transfer`."""
    if not payment.is_automatic:
        return TEXTS.title(payment.method, payment.speed)
    return f"{_AUTOMATIC}, by {METHODS[payment.method].words}"


def method_choices(*, mode: str, now: datetime) -> list[tuple[str, MethodChoice]]:
    """For a form of a tenant of `mode`, the one that is chosen beforehand first. The automatic
    choice is the last one, where there is one: it may go by any of the others, and what goes
    instantly cannot be taken back, so a person chooses it."""
    found = TEXTS.choices(
        mode=mode, most=lambda method: method.amount_max(mode), now=now, with_speeds=True
    )
    return [*found, (AUTO, _automatic(mode, now))] if automatic.is_a_choice(mode) else found


def _automatic(mode: str, now: datetime) -> MethodChoice:
    methods = automatic.methods(mode)
    return MethodChoice(
        title=_AUTOMATIC,
        meaning=(
            "An instant payment, which cannot be taken back. It goes by ACH if the recipient's bank"
            " takes no instant payments."
        ),
        most=automatic.amount_max(mode),
        expected_on=methods[0].terms(mode).expected_on(now),
        soon="within seconds of sending, or in banking days if it goes by ACH",
    )
