"""Reading what was logged, as production would write it."""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Iterator
from io import StringIO
from typing import Any

import structlog


class WrittenLog:
    """What went to the log since `clear()`."""

    def __init__(self) -> None:
        self._stream = StringIO()

    @property
    def text(self) -> str:
        return self._stream.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Each line must be one JSON object."""
        return [json.loads(line) for line in self.text.splitlines()]

    def of(self, event: str) -> list[dict[str, Any]]:
        """The lines of one event."""
        return [line for line in self.lines if line["event"] == event]

    def clear(self) -> None:
        self._stream.seek(0)
        self._stream.truncate()

    @contextlib.contextmanager
    def recording(self) -> Iterator[WrittenLog]:
        root = logging.getLogger()
        handler = logging.StreamHandler(self._stream)
        handler.setFormatter(_product_formatter(root))
        root.addHandler(handler)
        yield self
        root.removeHandler(handler)


class RawLog:
    """What was logged at any level, before anything is blanked out."""

    def __init__(self) -> None:
        self._stream = StringIO()

    @property
    def text(self) -> str:
        return self._stream.getvalue()

    @contextlib.contextmanager
    def recording(self) -> Iterator[RawLog]:
        root = logging.getLogger()
        handler, level = logging.StreamHandler(self._stream), root.level
        root.addHandler(handler)
        root.setLevel(logging.DEBUG)
        yield self
        root.setLevel(level)
        root.removeHandler(handler)


class StrictHandler(logging.Handler):
    """Fails the test whose log call does not fit its message.

    pytest's own does so too, but it is switched off: it formats every line twice, for 6 % of the
    suite's CPU. What a test wrote to the log is shown as the output it is.
    """

    def emit(self, record: logging.LogRecord) -> None:
        record.getMessage()


def _product_formatter(root: logging.Logger) -> logging.Formatter:
    for handler in root.handlers:
        if isinstance(handler.formatter, structlog.stdlib.ProcessorFormatter):
            return handler.formatter
    raise AssertionError("the product's log configuration is not active")
