"""What keeps files at the line to a bank, and what a person does about it."""

from __future__ import annotations

from functools import cache

from networks.ach.sftp.errors import SftpError

_FILES = {
    "file_name_invalid": (
        "A file of theirs has a name that we do not touch. Ask the bank to use letters, digits,"
        " . - and _."
    ),
    "file_empty": "A file of theirs is empty. Ask the bank what it is.",
    "file_too_large": "A file of theirs is larger than we read. Ask the bank what it is.",
}


def advice(code: str) -> str:
    """What to do about an error of the line; empty for an unknown code."""
    return _advices().get(code, "")


@cache
def _advices() -> dict[str, str]:
    of_the_line = {each.code: each.advice for each in SftpError.__subclasses__()}
    return {**of_the_line, **_FILES}
