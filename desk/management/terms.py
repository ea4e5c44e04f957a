"""Terms of a rail as a command takes them: a file of JSON, and single ones."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

TERMS_BYTES_MAX = 1_000_000


def add_terms(parser: ArgumentParser, *, example: str) -> None:
    """`--terms` and `--set`."""
    parser.add_argument("--terms", type=Path, help="a JSON file with all terms")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=f"one term, as {example}",
    )


def given(
    current: Mapping[str, Any] | None, path: Path | None, assignments: Iterable[str]
) -> dict[str, Any] | None:
    """The terms of a file, or else those in force, with single ones changed; None where there are
    neither. Raises CommandError."""
    if path is None and not current:
        return None
    stored = _read(path) if path else dict(current or {})
    for each in assignments:
        _put(stored, each)
    return stored


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open(encoding="utf-8") as file:
            stored = json.loads(file.read(TERMS_BYTES_MAX))
    except (OSError, ValueError) as error:
        raise CommandError(f"{path} is no JSON file that can be read: {error}") from error
    if not isinstance(stored, dict):
        raise CommandError(f"{path} holds no JSON object.")
    return stored


def _put(stored: dict[str, Any], assignment: str) -> None:
    """`connection.host=sftp.bank.com`; a value is JSON, or else a text, as one of digits is where a
    text stood before."""
    name, is_given, text = assignment.partition("=")
    if not is_given or not name:
        raise CommandError(f"{assignment}: write NAME=VALUE.")
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    *path, last = name.split(".")
    for part in path:
        inner = stored.get(part, {})
        if not isinstance(inner, dict):
            raise CommandError(f"{name}: {part} has no parts.")
        stored[part] = dict(inner)
        stored = stored[part]
    was_text = isinstance(stored.get(last), str)
    stored[last] = value if isinstance(value, str) or not was_text else text
