"""Takes what must stay secret out of texts that are written down: logs and the request log."""

from __future__ import annotations

import re

REDACTED = "[redacted]"
_SECRET_TEXT = re.compile(
    r"bal_(?:test|live)_[0-9A-Za-z]+"
    r"|whsec_[0-9A-Za-z+/=]+"
    r"|(?:processor|public|access|link)-(?:sandbox|development|production)-[\w-]+"
    r"|(?<=/password/reset/key/)[^/\s\"'?]+"
    r"|(?<=/confirm/)[^/\s\"'?]+"
    r"|(?<=/join/)[^/\s\"'?]+"
    r"|(?<=%2Fjoin%2F)[^/\s\"'?&%]+"
    r"|(?<=Bearer )[^\s\"',]+"
)
# A stand-alone run of digits long enough to be an account number keeps its last four.
_DIGITS = re.compile(r"(?<!\w)(?<![0-9][.:-])[0-9]{4,13}([0-9]{4})(?!\w|[.:-][0-9])")
# What PostgreSQL adds to an error: the values of the row.
_ROW_VALUES = re.compile(r"^(DETAIL|CONTEXT|PARAMETERS):.*$", re.MULTILINE)


def clean_text(text: str) -> str:
    """`text` without what looks like a secret, a magic link or an account number."""
    return _DIGITS.sub(r"[…\1]", without_secrets(text))


def without_secrets(text: str) -> str:
    """`text` without keys, secrets and magic links; digits stay."""
    return _ROW_VALUES.sub(rf"\1: {REDACTED}", _SECRET_TEXT.sub(REDACTED, text))
