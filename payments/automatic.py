"""The method `auto`: an instant payment, or ACH where the receiving bank cannot take that.

That the method was left to us is a flag of the payment (`is_automatic`); its `method` and `network`
are those in use, so that everything else treats it as a payment by that method (decision 0221).
"""

from __future__ import annotations

from collections.abc import Iterator

from payments.methods import METHODS
from payments.models import PaymentMethod
from transfers.methods import TransferMethod

WORDS = "instant payment or ACH transfer"
# In the order in which they are tried.
_ORDER = (PaymentMethod.RTP, PaymentMethod.ACH_CREDIT)


def methods(mode: str) -> list[TransferMethod]:
    """The methods by which an automatic payment of a tenant of `mode` may go, the first one
    first."""
    return [METHODS[name] for name in _ORDER if METHODS[name].network(mode)]


def is_a_choice(mode: str) -> bool:
    """Whether more than one of them is there."""
    return len(methods(mode)) > 1


def amount_max(mode: str) -> int:
    """How much an automatic payment of a tenant of `mode` may be, in cents: what the method takes
    that takes the most."""
    return max(method.amount_max(mode) for method in methods(mode))


def after(used: str, *, mode: str, amount: int) -> Iterator[TransferMethod]:
    """The methods that take so many cents and are tried after the method `used`."""
    later = _ORDER[_ORDER.index(PaymentMethod(used)) + 1 :]
    for method in methods(mode):
        if method.name in later and amount <= method.amount_max(mode):
            yield method
