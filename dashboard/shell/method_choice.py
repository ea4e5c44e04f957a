"""The ways to move money, as people read them in lists and choose them in forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime

from django.utils.text import capfirst

from transfers.methods import Methods, TransferMethod


@dataclass(frozen=True)
class MethodChoice:
    """What it means, the most it takes in cents, and when the money is there: by date, or `soon`
    in words."""

    title: str
    meaning: str
    most: int
    expected_on: date
    soon: str = ""

    def __str__(self) -> str:
        return self.title


@dataclass(frozen=True)
class MethodText:
    """What a method means to people. `soon`: when the money is there, if that is no matter of
    days."""

    meaning: str = ""
    soon: str = ""


class MethodTexts:
    """The methods of one direction in words. One without a text of its own has its title only."""

    def __init__(self, methods: Methods, texts: Mapping[str, MethodText]) -> None:
        self._methods = methods
        self._texts = texts

    def title(self, name: str) -> str:
        """The method's words, else the name of one that is offered no more."""
        method = self._methods.get(name)
        return capfirst(method.words) if method else name

    def soon(self, name: str) -> str:
        return self._of(name).soon

    def choices(
        self, *, mode: str, most: Callable[[TransferMethod], int], now: datetime
    ) -> list[tuple[str, MethodChoice]]:
        """For the form of a tenant of `mode`: what its networks serve or, while none is connected,
        what every tenant is shown. `most`: how much each takes, cents."""
        return [
            (
                method.name,
                MethodChoice(
                    title=self.title(method.name),
                    meaning=self._of(method.name).meaning,
                    most=most(method),
                    expected_on=method.terms(mode).expected_on(now),
                    soon=self.soon(method.name),
                ),
            )
            for method in self._methods.of_mode(mode) or self._methods.shown_to(mode)
        ]

    def _of(self, name: str) -> MethodText:
        return self._texts.get(name, MethodText())
