"""Removes secrets from texts that are written down: logs and the request log."""

from __future__ import annotations

import re

REDACTED = "[redacted]"
_SECRET_TEXT = re.compile(
    r"bal_(?:test|live)_[0-9A-Za-z]+"
    r"|whsec_[0-9A-Za-z+/=]+"
    r"|(?:processor|public|access|link)-(?:sandbox|development|production)-[\w-]+"
    r"|(?<=/password/reset/key/)[^/\s\"'?]+"
    r"|(?<=/2fa/enroll/)[^/\s\"'?]+"
    r"|(?<=/callback/\?)[^\s\"']+"
    r"|(?<=/confirm/)[^/\s\"'?]+"
    r"|(?<=/join/)[^/\s\"'?]+"
    r"|(?<=%2Fjoin%2F)[^/\s\"'?&%]+"
    r"|(?<=Bearer )[^\s\"',]+"
)
# Names and addresses of people, typed into a search: the value of `q` in a query string, also in
# one that is a value itself, as after `?next=`, where `?`, `&` and `=` are percent-encoded. The
# letter itself may be encoded anywhere, as `%71`: Django decodes names, too.
_SEARCHED = re.compile(
    r"((?:\A|[?&]|%(?:25)*(?:3[Ff]|26))(?:q|%(?:25)*71)(?:=|%(?:25)*3[Dd]))[^&\s]+"
)
# Of digits that stand alone and are long enough for an account number, only the last four stay.
_DIGITS = re.compile(r"(?<!\w)(?<![0-9][.:-])[0-9]{4,13}([0-9]{4})(?!\w|[.:-][0-9])")
# PostgreSQL adds the values of the row to an error.
_ROW_VALUES = re.compile(r"^(DETAIL|CONTEXT|PARAMETERS):.*$", re.MULTILINE)


def clean_text(text: str) -> str:
    """`text` without what looks like a secret, a magic link or an account number."""
    return _DIGITS.sub(_last_four, without_secrets(text))


def without_secrets(text: str) -> str:
    """`text` without keys, secrets, magic links and what was searched for. Digits stay."""
    text = _SEARCHED.sub(_name, _SECRET_TEXT.sub(REDACTED, text))
    return _ROW_VALUES.sub(_label, text)


# Functions rather than templates, because `re` parses a template with groups anew for each text, at
# three times the cost.


def _last_four(digits: re.Match[str]) -> str:
    return f"[…{digits[1]}]"


def _name(query: re.Match[str]) -> str:
    return f"{query[1]}{REDACTED}"


def _label(line: re.Match[str]) -> str:
    return f"{line[1]}: {REDACTED}"
