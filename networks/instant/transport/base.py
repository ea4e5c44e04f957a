"""What every transport does, and in what ways it can fail."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol


class Silent(Exception):
    """Nobody knows whether the message was taken. `cause` is a word for the log and for staff."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


class NotTaken(Exception):
    """The message was surely not taken, and will not be: the other side said so, or was never
    reached. `code` is a word, `reason` a sentence for staff."""

    def __init__(self, code: str, reason: str = "") -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason


class Unavailable(Exception):
    """Messages cannot be fetched or acknowledged at present. To be tried again."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


@dataclass(frozen=True)
class Delivery:
    """A message that came. `id` is the transport's, by which it is acknowledged."""

    id: str
    content: bytes = field(repr=False)


class Transport(Protocol):
    """One way to one network. Calls may come from several threads at once."""

    def send(self, content: bytes, *, name: str) -> None:
        """Hand a message over. `name` is its id: the same again under the same name is harmless.

        Raises Silent and NotTaken.
        """

    def receive(self, *, limit: int, wait: timedelta) -> Sequence[Delivery]:
        """The oldest messages that are not acknowledged, at most `limit`. Waits for the first of
        them as long as `wait`. Raises Unavailable."""

    def acknowledge(self, ids: Iterable[str]) -> None:
        """These messages are kept here, and need not be delivered again. Unknown ids are passed
        over. Raises Unavailable."""
