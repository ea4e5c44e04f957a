from __future__ import annotations

import pytest

from dashboard.developers.durations import duration_in_words


@pytest.mark.parametrize(
    ("microseconds", "words"),
    [
        (0, "0.0 ms"),
        (4_240, "4.2 ms"),
        (12_345, "12 ms"),
        (999_400, "999 ms"),
        (15_000_000, "15.0 s"),
    ],
)
def test_a_duration(microseconds, words):
    assert duration_in_words(microseconds) == words
