"""The amount that somebody looks for in a list."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest

from common.money import parse_dollars


@dataclass(frozen=True)
class Asked:
    """`text` as it was typed, and the `cents` that it means: below zero for money that left, None
    if nothing is looked for, or no amount."""

    text: str
    cents: int | None

    @classmethod
    def of(cls, request: HttpRequest) -> Asked:
        """What the address asks for."""
        text = request.GET.get("amount", "").strip()
        sign, digits = (-1, text[1:]) if text[:1] in {"-", "−"} else (1, text)
        cents = parse_dollars(digits) if digits else None
        return cls(text, sign * cents if cents else None)

    @property
    def is_wrong(self) -> bool:
        """Whether something was typed that is no amount."""
        return bool(self.text) and self.cents is None
