"""What a simulated history may not contain."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """`code` says what kind of thing, `subject` where, `message` the rest."""

    code: str
    subject: str
    message: str

    def __str__(self) -> str:
        return f"{self.code}: {self.subject}: {self.message}"
