"""What the simulation reports: something that must not happen in a history."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """`code` says what kind of thing was found, `subject` where, `message` the rest."""

    code: str
    subject: str
    message: str

    def __str__(self) -> str:
        return f"{self.code}: {self.subject}: {self.message}"
