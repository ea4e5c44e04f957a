"""Statement pages deep in a long history: page 10,000 against the first, with every filter. And the
monthly statements of that history."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sized
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from balance import selectors, statements
from benchmarks import database, seeding
from benchmarks.errors import CannotMeasure
from benchmarks.figures import Figure, Section, ratios
from benchmarks.options import Options
from common.clock import utc_now

PAGE = 50
DEEP_PAGE = 10_000
WARM_UP = 6  # plans settle after five executions
RUNS = 40
AIM = 1.2
MONTHS_AIM = 50  # ms
OWNER = "bench_history"
TENANT = f"{OWNER}0"


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two reads that ought to cost the same, and how many lines each finds."""

    name: str
    first: Callable[[], Sized]
    deep: Callable[[], Sized]
    lines: int = PAGE + 1


def measure(options: Options) -> Section:
    """Each filter's first page and its deep one, in turns. Raises CannotMeasure."""
    seeding.require_own_database()
    rows, mine = prepare(options)
    figures = []
    for pair in _pairs(mine, utc_now()):
        near, far = _milliseconds(pair)
        figures += [
            Figure(
                name=f"{pair.name} ÷ first page", values=ratios(far, near), aim=AIM, at_most=True
            ),
            Figure(name=pair.name, unit="ms", values=far),
        ]
    figures += list(_months(mine))
    text = (
        f"{rows:,} rows in the table, {mine:,} of the tenant that is read; pages of {PAGE} by "
        f"`balance.selectors.page` as the API asks for them, {RUNS} of each in turns, warm. No "
        "count query anywhere. A type has a quarter of the rows, so its deepest page has a smaller "
        "number. A source has four lines: its oldest one against its newest."
    )
    return Section("Paging", text, figures)


def prepare(options: Options) -> tuple[int, int]:
    """A history of `options.rows`, half of one tenant; returns how many there are, and are its."""
    per_tenant = options.rows // 2 // 4 * 4
    if (
        database.scalar("SELECT count(*) FROM balance WHERE tenant_id = %(id)s", id=f"{OWNER}0")
        == 0
    ):
        database.empty(
            "balance_transaction", "balance", "balance_checkpoint", "balance_closed_month_total"
        )
        began = time.monotonic()
        for number, share in enumerate((per_tenant, *[per_tenant // 8 // 4 * 4] * 8)):
            tenant = seeding.named_tenant(f"{OWNER}{number}")
            seeding.history(tenant, share)
        database.execute("VACUUM ANALYZE balance_transaction, balance")
        options.tell(f"{options.rows:,} rows were made in {time.monotonic() - began:.0f} s")
    return database.scalar("SELECT count(*) FROM balance_transaction"), per_tenant


def _pairs(mine: int, now: datetime) -> Iterator[Pair]:
    deep = min(DEEP_PAGE, mine // PAGE - 10)
    # Rows of one type are every fourth, of two types every second: the deep page has to exist.
    deep_of_one, deep_of_two = (min(DEEP_PAGE, mine // PAGE // share - 10) for share in (4, 2))
    since, until = (
        now - timedelta(days=9999),
        now - timedelta(seconds=seeding.SECONDS_APART * mine // 2),
    )
    half_deep = deep_of_two // 2
    yield _paged("no filter", deep, mine - deep * PAGE)
    yield _paged("one type", deep_of_one, mine - deep_of_one * PAGE * 4, types=["credit"])
    yield _paged(
        "two types", deep_of_two, mine - deep_of_two * PAGE * 2, types=["credit", "settlement"]
    )
    yield _paged("createdAfter", deep, mine - deep * PAGE, created_after=since)
    yield _paged("createdBefore", deep, mine - deep * PAGE, created_before=now)
    yield _paged(
        "created between, two types",
        half_deep,
        mine // 2 - half_deep * PAGE * 2,
        types=["lock", "debit"],
        created_after=since,
        created_before=until,
    )
    newest, oldest = (seeding.source_id(TENANT, number) for number in (mine // 4 - 1, 0))
    yield Pair(name="one source, the oldest", first=_of(newest), deep=_of(oldest), lines=4)


def _months(mine: int) -> Iterator[Figure]:
    """The page that lists the months, and the totals of a month that is over, once they are
    stored."""
    now = utc_now()
    listed = _times(lambda: statements.months(tenant_id=TENANT, now=now))
    yield Figure(
        name=f"list of months, tenant of {mine:,} lines",
        unit="ms",
        values=listed,
        aim=MONTHS_AIM,
        at_most=True,
    )
    over = statements.months(tenant_id=TENANT, now=now)[1:]
    if over:
        longest = max(over, key=lambda month: month.lines)
        read = partial(statements.statement, tenant_id=TENANT, first=longest.first, now=now)
        name = f"statement of a month of {longest.lines:,} lines"
        yield Figure(name=f"{name}, first time", unit="ms", values=_times(read, runs=1, warm_up=0))
        yield Figure(name=name, unit="ms", values=_times(read), aim=MONTHS_AIM, at_most=True)


def _times(read: Callable[[], object], *, runs: int = RUNS, warm_up: int = WARM_UP) -> list[float]:
    """Milliseconds of each read."""
    times = []
    for _ in range(warm_up + runs):
        began = time.perf_counter()
        read()
        times.append((time.perf_counter() - began) * 1000)
    return times[warm_up:]


def _paged(name: str, page: int, before: int, **filters: Any) -> Pair:
    return Pair(
        name=f"{name}: page {page:,}",
        first=partial(selectors.page, TENANT, count=PAGE + 1, **filters),
        deep=partial(selectors.page, TENANT, before=before, count=PAGE + 1, **filters),
    )


def _of(source_id: str) -> Callable[[], Sized]:
    return partial(selectors.page, TENANT, count=PAGE + 1, source_id=source_id)


def _milliseconds(pair: Pair) -> tuple[list[float], list[float]]:
    """Of the first page and of the deep one, each pair of reads in the other order."""
    near: list[float] = []
    far: list[float] = []
    turns = [(pair.first, near), (pair.deep, far)]
    for number in range(WARM_UP + RUNS):
        for fetch, times in turns if number % 2 == 0 else reversed(turns):
            began = time.perf_counter()
            found = fetch()
            times.append((time.perf_counter() - began) * 1000)
            if len(found) != pair.lines:
                raise CannotMeasure(f"{pair.name}: {len(found)} lines, not {pair.lines}")
    return near[WARM_UP:], far[WARM_UP:]
