"""What every transport does, and in what ways it can fail."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

CONTENT_BYTES_MAX = 1 << 20
WAIT_MAX = timedelta(seconds=30)
TOO_LARGE = "answer_too_large"  # the cause where so many messages cannot come at once


class Silent(Exception):
    """Nobody said that the message was taken, and it may have been. `cause` is a word for staff.

    It is sent again as the network wants that, so that one that never arrived arrives in the end.
    """

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


class NotTaken(Exception):
    """The other side said that it does not take this message: nothing comes of it.

    `code` is its word for why, `reason` its sentence. Both are shown to staff only.
    """

    def __init__(self, code: str, reason: str = "") -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason


class Unavailable(Exception):
    """Messages cannot be fetched or acknowledged now. To be tried again. `cause` is a word."""

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
        """Hand a message over. `name` is its id.

        Raises Silent, NotTaken, and ValueError for content of more than 1 MiB.
        """

    def receive(self, *, limit: int, wait: timedelta) -> Sequence[Delivery]:
        """The oldest messages that are not acknowledged, at most `limit`: fewer of them are all
        that there are. Waits up to `wait` (30 seconds at most) if there is none. Raises
        Unavailable, with the cause TOO_LARGE where fewer have to be asked for."""

    def acknowledge(self, ids: Iterable[str]) -> None:
        """These messages are kept here, and need not be delivered again. Unknown ids are passed
        over. Raises Unavailable."""
