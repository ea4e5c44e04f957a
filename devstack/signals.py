"""Turn the first Ctrl-C, SIGTERM or SIGHUP into one orderly stop."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(BaseException):
    """Somebody asked this process to end. Not an Exception: nothing may swallow it."""

    def __init__(self, cause: signal.Signals) -> None:
        super().__init__(cause.name)
        self.cause = cause

    @property
    def exit_code(self) -> int:
        return 128 + self.cause


@contextlib.contextmanager
def stop_once() -> Iterator[None]:
    """Raise Stopped at the first signal; ignore the rest, so that they cannot cut it short."""

    def stop(number: int, _frame: FrameType | None) -> None:
        for ignored in STOP_SIGNALS:
            signal.signal(ignored, signal.SIG_IGN)
        raise Stopped(signal.Signals(number))

    former = {number: signal.signal(number, stop) for number in STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
