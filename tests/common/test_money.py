from __future__ import annotations

import pytest

from common.money import AMOUNT_MAX, format_cents


@pytest.mark.parametrize(
    ("cents", "text"),
    [
        (0, "$0.00"),
        (5, "$0.05"),
        (-5, "-$0.05"),
        (100, "$1.00"),
        (-199, "-$1.99"),
        (12_345, "$123.45"),
        (123_456, "$1,234.56"),
        (-100_000_000, "-$1,000,000.00"),
        (AMOUNT_MAX, "$10,000,000,000,000.00"),
    ],
)
def test_cents_read_as_dollars(cents, text):
    assert format_cents(cents) == text
