"""A status in one or two words, as pages show it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Badge:
    """A status in one or two words; `tone` is neutral, info, good, warn or bad."""

    label: str
    tone: str = "neutral"
