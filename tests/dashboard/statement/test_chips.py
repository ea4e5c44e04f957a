"""Chips: presets and what else is chosen, one link each."""

from __future__ import annotations

from datetime import date
from urllib.parse import parse_qsl, urlsplit

import pytest

from common import ids
from dashboard.statement import chips
from dashboard.statement.filters import MovementFilter, TransactionFilter

TODAY = date(2026, 11, 28)
PRESETS = ["This month", "Last 30 days", "Money in", "Money out"]


def shown(*, view="", **chosen):
    form = (TransactionFilter if view else MovementFilter)(chosen)
    return {chip.label: chip for chip in chips.chips(form, view=view, today=TODAY)}


def asked(address):
    parts = urlsplit(address)
    assert parts.path == "/dashboard/transactions"
    return dict(parse_qsl(parts.query))


def test_are_the_presets_where_nothing_is_chosen():
    found = shown()

    assert list(found) == PRESETS
    assert {chip.is_on for chip in found.values()} == {False}
    assert {label: asked(chip.href) for label, chip in found.items()} == {
        "This month": {"since": "2026-11-01"},
        "Last 30 days": {"since": "2026-10-30"},
        "Money in": {"type": "in"},
        "Money out": {"type": "out"},
    }


def test_of_a_preset_that_is_on_leads_back_and_keeps_the_rest():
    found = shown(since="2026-11-01", type="in")

    assert list(found) == PRESETS
    assert [label for label, chip in found.items() if chip.is_on] == ["This month", "Money in"]
    assert asked(found["This month"].href) == {"type": "in"}
    assert asked(found["Money in"].href) == {"since": "2026-11-01"}
    assert asked(found["Money out"].href) == {"since": "2026-11-01", "type": "out"}
    assert asked(found["Last 30 days"].href) == {"since": "2026-10-30", "type": "in"}


def test_are_also_what_no_preset_says_each_with_the_way_out():
    payment = ids.new("pay")
    found = shown(search=payment, since="2026-11-02", until="2026-11-05")

    assert list(found) == [*PRESETS, payment, "From Nov 2, 2026", "To Nov 5, 2026"]
    assert [label for label, chip in found.items() if chip.is_on] == list(found)[4:]
    assert asked(found[payment].href) == {"since": "2026-11-02", "until": "2026-11-05"}
    assert asked(found["To Nov 5, 2026"].href) == {"search": payment, "since": "2026-11-02"}
    assert asked(found["This month"].href) == {"search": payment, "since": "2026-11-01"}


def test_keep_how_the_list_is_shown():
    found = shown(view="ledger", type="lock")

    assert list(found) == [*PRESETS, "Lock"]
    assert asked(found["Lock"].href) == {"view": "ledger"}
    assert asked(found["Money in"].href) == {"view": "ledger", "type": "in"}


def test_say_nothing_of_a_choice_that_makes_no_sense():
    assert list(shown(since="2026-11-05", until="2026-11-02")) == PRESETS


@pytest.mark.parametrize(
    ("view", "chosen", "other"),
    [
        ("", {"type": "in", "since": "2026-11-01"}, {"type": "in", "since": "2026-11-01"}),
        ("ledger", {"type": "in"}, {"type": "in"}),
        ("ledger", {"type": "lock", "until": "2026-11-01"}, {"until": "2026-11-01"}),
    ],
)
def test_the_other_view_shows_the_same_choice(view, chosen, other):
    form = (TransactionFilter if view else MovementFilter)(chosen)

    expected = other if view else other | {"view": "ledger"}
    assert asked(chips.other_view(form, view=view)) == expected
