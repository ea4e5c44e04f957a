"""A day of a settlement account: its lines are matched with what the books expect, its figures are
added up, and its pages are shown."""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import median

from django.urls import reverse

from benchmarks import database, load, people, seeding, settled_day, website
from benchmarks.ach_files import RAIL
from benchmarks.errors import CannotMeasure
from benchmarks.figures import Figure, Section
from benchmarks.options import Options
from benchmarks.processes import Server
from benchmarks.settled_day import SettledDay
from common.clock import utc_now
from reconciliation import figures
from reconciliation.matching import running

LINES, ENTRIES = 100_000, 1_000_000
# Of the day whose pages are shown: 100,000 entries.
LINES_OF_PAGE = 10_300
MATCH_SECONDS, PAGE_MS = 60, 300
_SLICE_SECONDS = 2.0
_TEXT = """{lines:,} lines of one statement, of which 97 of 100 quote a batch of {each} entries, two
name a return and one is a fee; in the books {entries:,} lines that the bank should show. One run of
all rules, one process, durable. The aim of {seconds} s is for {all_lines:,} lines and
{all_entries:,} entries, and scaled here. Bare: the same rows given a match by one statement in a
table without index, rule or trigger. Figures: what a page of that day adds up. Pages: those of an
open day with {page_entries:,} entries, whole answers of gunicorn with 2 workers of 4 threads, one
kept connection."""
_BARE = """
DROP TABLE IF EXISTS bare_line;
CREATE TABLE bare_line AS SELECT * FROM reconciliation_expectedline
"""


def measure(options: Options) -> Section:
    """Raises CannotMeasure."""
    seeding.require_own_database()
    large = settled_day.make(options.scaled(20_000, 2_000, LINES))
    found = list(_matching(large))
    small = settled_day.make(options.scaled(LINES_OF_PAGE, LINES_OF_PAGE // 10))
    found += _pages(small)
    settled_day.empty()
    text = _TEXT.format(
        lines=large.lines,
        each=settled_day.EACH,
        entries=large.entries,
        seconds=MATCH_SECONDS,
        all_lines=LINES,
        all_entries=ENTRIES,
        page_entries=small.entries,
    )
    return Section("Matching", text, found)


def _matching(made: SettledDay) -> Iterator[Figure]:
    bare = _bare_seconds()
    before = _figures_seconds(made)
    seconds = _match_seconds(made)
    yield Figure(
        name=f"{made.lines:,} lines matched",
        unit="s",
        values=[seconds],
        aim=MATCH_SECONDS * made.lines / LINES,
        at_most=True,
    )
    yield Figure(name="matching ÷ bare change of the rows", values=[seconds / bare])
    for what, took in (("nothing", before), ("all", _figures_seconds(made))):
        yield Figure(name=f"figures of the day, {what} matched", unit="ms", values=[took * 1_000])


def _match_seconds(made: SettledDay) -> float:
    began = time.monotonic()
    matches = running.run(RAIL, now=utc_now())
    seconds = time.monotonic() - began
    if sum(matches.values()) != made.lines:
        raise CannotMeasure(f"of {made.lines:,} lines {matches} were matched")
    return seconds


def _bare_seconds() -> float:
    database.execute(_BARE)
    began = time.monotonic()
    database.execute("UPDATE bare_line SET match_id = 'mat_' || line")
    seconds = time.monotonic() - began
    database.execute("DROP TABLE bare_line")
    return seconds


def _figures_seconds(made: SettledDay) -> float:
    took = []
    for _ in range(5):
        began = time.monotonic()
        figures.of(made.account, made.day)
        took.append(time.monotonic() - began)
    return median(took)


def _pages(made: SettledDay) -> list[Figure]:
    cookie = people.cookie(people.staff(), factor="totp")
    with website.serving() as web:
        found = list(_shown(web, cookie, made, "nothing"))
        _match_seconds(made)
        return [*found, *_shown(web, cookie, made, "all")]


def _shown(web: Server, cookie: str, made: SettledDay, what: str) -> Iterator[Figure]:
    day = {"rail": RAIL, "day": made.day}
    pages = {
        "the day": reverse("desk:reconciliation_day", kwargs=day),
        "books": reverse("desk:reconciliation_books", kwargs=day),
        "in transit": reverse("desk:reconciliation_transit", kwargs=day),
        "lines that nothing explains": reverse("desk:reconciliation_open", args=[RAIL]),
        "home": reverse("desk:reconciliation"),
    }
    for name, path in pages.items():
        request = website.page(path, cookie)
        load.run(web.port, request, connections=4, seconds=_SLICE_SECONDS / 4)  # until it is warm
        times = load.run(web.port, request, connections=1, seconds=_SLICE_SECONDS).times
        yield Figure(
            name=f"page: {name}, {what} matched",
            unit="ms",
            values=[took * 1_000 for took in times],
            aim=PAGE_MS,
            at_most=True,
        )
