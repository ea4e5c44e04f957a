"""The terms of an instant rail: stored as they were agreed, and refused where they cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from networks.instant.terms import Connection, InvalidTerms, RailTerms, TransportKind

WHO: dict[str, Any] = {
    "participant": "124000313",
    "routing_number": "124000313",
    "creditor_name": "Ballast Inc.",
    "connection": Connection(kind=TransportKind.FOLDER, folder="/var/lib/ballast/fednow"),
}


def test_a_position_is_stored_and_read():
    terms = RailTerms(**WHO, keeps_position=True, position_warn_below=50_000_00)

    assert RailTerms.parse(terms.as_json()) == terms


@pytest.mark.parametrize("folder", ["/srv/bank", "/opt/My Projects/ballast/.run/instant"])
def test_statements_may_lie_in_any_folder(folder):
    terms = RailTerms(**WHO, statements=f"{folder}/rtp_camt053_*.xml")

    assert RailTerms.parse(terms.as_json()) == terms


def test_terms_of_before_keep_no_position():
    stored = RailTerms(**WHO).as_json()
    del stored["keeps_position"], stored["position_warn_below"]

    terms = RailTerms.parse(stored)

    assert (terms.keeps_position, terms.position_warn_below) == (False, 0)


@pytest.mark.parametrize(
    ("term", "value"),
    [
        ("keeps_position", 1),
        ("keeps_position", "yes"),
        ("position_warn_below", -1),
        ("position_warn_below", True),
        ("position_warn_below", 10**15 + 1),
        ("position_warn_below", "5"),
        ("statements", "rtp_*.xml"),
        ("statements", "/srv/../etc/rtp_*.xml"),
        ("statements", "/srv/bank/../rtp_*.xml"),
        ("statements", "/srv/bank/.rtp_*.xml"),
        ("statements", "/srv/bank*/rtp\n.xml"),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(term, value):
    with pytest.raises(InvalidTerms) as refused:
        RailTerms(**WHO, **{term: value})

    assert list(refused.value.problems) == [term]
