"""What people say when they decide something."""

from __future__ import annotations

from common.errors import DomainError
from networks.ach.models.columns import REASON_LENGTH_MAX


def checked(text: str, refusal: type[DomainError]) -> str:
    """A reason without spaces around it. Raises `refusal` if it is empty or too long."""
    if not 1 <= len(text := text.strip()) <= REASON_LENGTH_MAX:
        raise refusal(f"A reason of 1 to {REASON_LENGTH_MAX} characters is needed.")
    return text
