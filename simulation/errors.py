"""Notes what the product logs as an error, together with the job that did it."""

from __future__ import annotations

import logging
from typing import Any

from simulation.processes import current

# The fields of a log line that say what was found.
_TELLING = ("code", "subject", "message", "reason")


class Recorder(logging.Handler):
    """Notes log lines and prints nothing, because a simulated day has many broken connections."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == "asyncio":  # says it when garbage is collected, about another job
            return
        process = current()
        if process is not None and process.job is not None:
            process.job.errors.append(_words(record))


def _words(record: logging.LogRecord) -> str:
    message: Any = record.msg
    if isinstance(message, dict):
        error = message.get("exception") or message.get("exc_info")
        told = (message.get(name) for name in ("event", *_TELLING))
        message = " ".join(str(value) for value in told if value)
        return f"{record.name}: {message} {_last_line(error)}".strip()
    error = record.exc_info[1] if record.exc_info else None
    return f"{record.name}: {record.getMessage()[:200]} {_last_line(error)}".strip()


def _last_line(error: Any) -> str:
    lines = str(error or "").strip().splitlines()
    return lines[-1][:200] if lines else ""
