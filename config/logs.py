"""Structured logs: JSON lines in production, readable lines in development. Times are UTC."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import structlog
from structlog.typing import EventDict, WrappedLogger

_REDACTED = "[redacted]"
# Members that must never be written, whoever logs them.
_SECRET_NAMES = re.compile(
    r"account_?number|token|secret|password|passwd|authorization|api_?key$|cookie", re.IGNORECASE
)
_SECRET_TEXT = re.compile(
    r"bal_(?:test|live)_[0-9A-Za-z]+"
    r"|whsec_[0-9A-Za-z+/=]+"
    r"|processor-(?:sandbox|development|production)-[\w-]+"
    r"|(?<=/password/reset/key/)[^/\s\"'?]+"
    r"|(?<=/confirm/)[^/\s\"'?]+"
    r"|(?<=/join/)[^/\s\"'?]+"
    r"|(?<=%2Fjoin%2F)[^/\s\"'?&%]+"
    r"|(?<=Bearer )[^\s\"',]+"
)
# A stand-alone run of digits long enough to be an account number keeps its last four.
_DIGITS = re.compile(r"(?<!\w)(?<![0-9][.:-])[0-9]{4,13}([0-9]{4})(?!\w|[.:-][0-9])")
# Members that are references and not bank details, whatever their digits look like.
_REFERENCE_NAMES = re.compile(r"(^|_)id$|^timestamp$|^trace_number$")
# What PostgreSQL adds to an error: the values of the row.
_ROW_VALUES = re.compile(r"^(DETAIL|CONTEXT|PARAMETERS):.*$", re.MULTILINE)
_DEPTH_MAX = 6


def redact(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Blank out keys, secrets, magic and reset links and account numbers, by name and by shape."""
    return {name: _redacted(name, value, depth=0) for name, value in event.items()}


def _redacted(name: str, value: Any, *, depth: int) -> Any:
    if _SECRET_NAMES.search(name):
        return _REDACTED
    if isinstance(value, str):
        return _without_secrets(value) if _REFERENCE_NAMES.search(name) else clean_text(value)
    if depth >= _DEPTH_MAX:
        return _REDACTED
    if isinstance(value, Mapping):
        return {key: _redacted(str(key), item, depth=depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_redacted("", item, depth=depth + 1) for item in value]
    if value is None or isinstance(value, int | float):
        return value
    return clean_text(str(value))


def clean_text(text: str) -> str:
    """`text` without what looks like a secret, a magic link or an account number."""
    return _DIGITS.sub(r"[…\1]", _without_secrets(text))


def _without_secrets(text: str) -> str:
    return _ROW_VALUES.sub(rf"\1: {_REDACTED}", _SECRET_TEXT.sub(_REDACTED, text))


def logging_config(*, json_lines: bool) -> dict[str, Any]:
    """The `LOGGING` setting."""
    renderer: Any = (
        structlog.processors.JSONRenderer()
        if json_lines
        else structlog.dev.ConsoleRenderer(
            colors=False, exception_formatter=structlog.dev.plain_traceback
        )
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "structured": {
                "()": structlog.stdlib.ProcessorFormatter,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    redact,
                    renderer,
                ],
                "foreign_pre_chain": [
                    structlog.contextvars.merge_contextvars,
                    structlog.processors.TimeStamper(fmt="iso", utc=True),
                    structlog.stdlib.add_logger_name,
                    structlog.stdlib.add_log_level,
                    structlog.processors.format_exc_info,
                ],
            }
        },
        "handlers": {
            "console": {"class": "logging.StreamHandler", "formatter": "structured"},
        },
        "root": {"handlers": ["console"], "level": "INFO"},
        "loggers": {
            "django.server": {"level": "WARNING"},
            # A line for every tick of every sweep would drown what matters.
            "django_structlog.celery": {"level": "WARNING"},
            "django.security.DisallowedHost": {"level": "CRITICAL"},  # a 400 in request_finished
            "django.request": {"level": "CRITICAL"},  # django_structlog writes request and error
            "django_structlog": {"level": "INFO"},
            "kombu": {"level": "WARNING"},
            "celery.app.trace": {"level": "CRITICAL"},  # django_structlog writes task_failed
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.worker.request": {"level": "WARNING"},  # a line per expired tick
            "celery.beat": {"level": "WARNING"},
        },
    }
