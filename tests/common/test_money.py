from __future__ import annotations

import pytest

from common.money import AMOUNT_MAX, format_cents, parse_dollars


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


@pytest.mark.parametrize(
    ("text", "cents"),
    [
        ("1,234.56", 123_456),
        ("$1,234.56", 123_456),
        ("1234.56", 123_456),
        (" $1234.56\n", 123_456),
        ("1234", 123_400),
        ("$0.05", 5),
        ("10,000,000,000,000.00", 10**15),
    ],
)
def test_typed_dollars_become_cents(text, cents):
    assert parse_dollars(text) == cents


@pytest.mark.parametrize(
    "text",
    [
        "",
        "$",
        "abc",
        "-1.00",
        "1.5",
        "1.234",
        "1,23.45",
        "12,34,567.00",
        "1_000",
        "1e3",
        "1 000.00",
        "$ 1.00",
        "\N{ARABIC-INDIC DIGIT ONE}\N{ARABIC-INDIC DIGIT ZERO}",
        "\N{FULLWIDTH DIGIT ONE}00",
        "²",
        "1.00 USD",
        "1\0",
        "9" * 5_000,
        "9," * 5_000,
    ],
)
def test_anything_else_is_no_amount(text):
    assert parse_dollars(text) is None
