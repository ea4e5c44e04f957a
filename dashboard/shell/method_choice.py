"""The ways to move money, as people read them in lists and choose them in forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime

from django.utils.text import capfirst

from networks.base import Speed
from transfers.methods import Methods, TransferMethod

_AT = "+"  # between method and speed in the value of a choice


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

    def title(self, name: str, speed: str = Speed.STANDARD) -> str:
        """The method's words, else the name of one that is offered no more; and its speed if that
        is not the usual one."""
        method = self._methods.get(name)
        words = capfirst(method.words) if method else name
        return f"{words}, same day" if speed == Speed.SAME_DAY else words

    def soon(self, name: str) -> str:
        return self._of(name).soon

    def undated(self) -> list[str]:
        """The methods for which no date says when the money is there."""
        return [name for name, text in self._texts.items() if text.soon]

    def choices(
        self,
        *,
        mode: str,
        most: Callable[[TransferMethod], int],
        now: datetime,
        with_speeds: bool = False,
    ) -> list[tuple[str, MethodChoice]]:
        """For the form of a tenant of `mode`: what its networks serve or, while none is connected,
        what every tenant is shown. `most`: how much each takes, cents. `with_speeds`: a method that
        can settle on the same day is there twice; `method_and_speed` reads what was chosen."""
        found = []
        for method in self._methods.of_mode(mode) or self._methods.shown_to(mode):
            found.append((method.name, self._choice(method, mode, most(method), now)))
            if with_speeds and (fastest := method.terms(mode).same_day_max):
                fast = self._choice(
                    method, mode, min(most(method), fastest), now, speed=Speed.SAME_DAY
                )
                found.append((f"{method.name}{_AT}{Speed.SAME_DAY}", fast))
        return found

    def _choice(
        self,
        method: TransferMethod,
        mode: str,
        most: int,
        now: datetime,
        *,
        speed: Speed = Speed.STANDARD,
    ) -> MethodChoice:
        return MethodChoice(
            title=self.title(method.name, speed),
            meaning=self._of(method.name).meaning,
            most=most,
            expected_on=method.terms(mode).expected_on(now, speed),
            soon=self.soon(method.name),
        )

    def _of(self, name: str) -> MethodText:
        return self._texts.get(name, MethodText())


def method_and_speed(choice: str) -> tuple[str, Speed]:
    """What the value of a choice stands for."""
    method, _, speed = choice.partition(_AT)
    return method, Speed(speed or Speed.STANDARD)
