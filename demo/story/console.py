"""What the demo prints, and how it waits."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

WAIT_SECONDS = 60.0


class StoryError(Exception):
    """The product did not do what the story says."""


def chapter(title: str) -> None:
    _print(f"\n── {title} " + "─" * max(0, 74 - len(title)))


def say(text: str) -> None:
    _print(f"   {text}")


def check(holds: bool, claim: str) -> None:
    """State a claim; stop the demo when it does not hold."""
    if not holds:
        raise StoryError(claim)
    _print(f" ✓ {claim}")


def wait_for(what: str, probe: Callable[[], Result | None]) -> Result:
    """Ask `probe` until it has an answer. Raises StoryError after a minute."""
    _print(f"   … waiting for {what}")
    ends = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < ends:
        if (result := probe()) is not None:
            return result
        time.sleep(0.1)
    raise StoryError(f"{what} did not happen within {WAIT_SECONDS:.0f} seconds")


def dollars(cents: int) -> str:
    sign = "-" if cents < 0 else ""
    return f"{sign}${abs(cents) // 100:,}.{abs(cents) % 100:02d}"


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
