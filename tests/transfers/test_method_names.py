"""What people call the ways money moves: one name each, for staff and tenants."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.utils.text import capfirst

from funding.methods import METHODS as IN
from funding.models import FundingMethod
from payments.methods import METHODS as OUT
from payments.models import PaymentMethod

ROOT = Path(__file__).parents[2]
OTHERS = re.compile(r"\b(Ach|Rtp)\b|\bACH [DC][a-z]+\b|\bACH credit|RTP (debit|credit|payment)\b")


@pytest.mark.parametrize(
    ("choices", "methods"), [(FundingMethod, IN), (PaymentMethod, OUT)], ids=["in", "out"]
)
def test_the_labels_are_the_names_everywhere(choices, methods):
    assert {name: capfirst(method.words) for name, method in methods.items()} == dict(
        choices.choices
    )


def test_the_names_read_well_in_sentences():
    assert [method.words for method in (*IN.values(), *OUT.values())] == [
        "ACH debit",
        "request for payment (RTP)",
        "ACH transfer",
        "instant payment (RTP)",
    ]


def test_no_page_and_no_mail_has_another_name():
    found = {
        str(path.relative_to(ROOT)): match[0]
        for path in (ROOT / "templates").rglob("*")
        if path.is_file() and (match := OTHERS.search(path.read_text()))
    }

    assert found == {}
