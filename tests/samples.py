"""What CI tries of many points, and the night tries whole (decision 0211)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pytest


def by_day(values: Iterable[object], sample: Collection[object]) -> list[object]:
    """The values for `pytest.mark.parametrize`, those outside of the sample with `--nightly` only.

    Raises AssertionError for a sample that is empty or has something else in it.
    """
    values = list(values)
    assert sample, "by day something must be tried"
    assert all(value in values for value in sample), f"{sample} is no part of {values}"
    return [
        value if value in sample else pytest.param(value, marks=pytest.mark.nightly)
        for value in values
    ]
