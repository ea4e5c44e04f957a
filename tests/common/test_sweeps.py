from __future__ import annotations

from common import sweeps


def test_what_breaks_is_logged_and_stops_no_other(log):
    done = sweeps.each([1, 0, 2], lambda number: 10 // number, failure="not_divided")

    assert done == 15
    assert [(line["event"], line["subject"]) for line in log.lines] == [("not_divided", "0")]
