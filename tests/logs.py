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


def _product_formatter(root: logging.Logger) -> logging.Formatter:
    for handler in root.handlers:
        if isinstance(handler.formatter, structlog.stdlib.ProcessorFormatter):
            return handler.formatter
    raise AssertionError("the product's log configuration is not active")
