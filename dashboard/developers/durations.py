"""Durations in the words that pages use for them."""

from __future__ import annotations


def duration_in_words(microseconds: int) -> str:
    """`4.2 ms`, `45 ms`, `15.0 s`."""
    if microseconds >= 1_000_000:
        return f"{microseconds / 1_000_000:,.1f} s"
    milliseconds = microseconds / 1000
    return f"{milliseconds:.1f} ms" if milliseconds < 10 else f"{milliseconds:.0f} ms"
