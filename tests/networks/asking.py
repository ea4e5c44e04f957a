"""One instruction handed to a network, as a test asks."""

from __future__ import annotations

from datetime import datetime

from networks.base import Accepted, Instruction, PaymentNetwork


def submit(network: PaymentNetwork, instruction: Instruction, *, now: datetime) -> Accepted:
    """The receipt. Raises what the network answers instead."""
    answer = network.submit_many([instruction], now=now)[instruction.id]
    if isinstance(answer, Accepted):
        return answer
    raise answer
