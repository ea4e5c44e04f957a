"""Statement pages deep in a long history: page 10,000 against the first, with every filter."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from balance import selectors
from benchmarks import seeding
from benchmarks.errors import CannotMeasure
from benchmarks.figures import Figure, Section
from benchmarks.options import Options
from common.clock import utc_now

PAGE = 50
DEEP_PAGE = 10_000
RUNS = 40
AIM = 1.2
OWNER = "bench_history"


def measure(options: Options) -> Section:
    """Each filter's first page and its page 10,000, in turns. Raises CannotMeasure."""
    seeding.require_own_database()
    rows, mine = prepare(options)
    deep = min(DEEP_PAGE, mine // PAGE - 10)
    now = utc_now()
    figures = []
    for name, (fetch, first, before) in _cases(mine, deep, now).items():
        near = _milliseconds(fetch, first)
        far = _milliseconds(fetch, before)
        figures.append(
            Figure(
                name=f"{name}: page {deep:,} ÷ first page",
                values=[b / a for a, b in zip(near, far, strict=True)],
                aim=AIM,
                at_most=True,
            )
        )
        figures.append(Figure(name=f"{name}: page {deep:,}", unit="ms", values=far))
    text = (
        f"{rows:,} rows in the table, {mine:,} of the tenant that is read; pages of {PAGE} by "
        f"`balance.selectors.page` as the API asks for them, {RUNS} of each in turns, warm. No "
        "count query anywhere. `--rows 10000000` is the size of the aim; seeding it takes minutes."
    )
    return Section("Paging", text, figures)


def prepare(options: Options) -> tuple[int, int]:
    """A history of `options.rows`, half of one tenant; returns how many there are, and are its."""
    per_tenant = options.rows // 2 // 4 * 4
    if seeding.scalar("SELECT count(*) FROM balance WHERE tenant_id = %(id)s", id=f"{OWNER}0") == 0:
        seeding.execute("TRUNCATE balance_transaction, balance, balance_checkpoint")
        began = time.monotonic()
        for number, share in enumerate((per_tenant, *[per_tenant // 8 // 4 * 4] * 8)):
            tenant = seeding.named_tenant(f"{OWNER}{number}")
            seeding.history(tenant, share)
        seeding.execute("VACUUM ANALYZE balance_transaction, balance")
        options.tell(f"{options.rows:,} rows were made in {time.monotonic() - began:.0f} s")
    return seeding.scalar("SELECT count(*) FROM balance_transaction"), per_tenant


Fetch = Callable[[int | None], list[dict[str, Any]]]


def _cases(mine: int, deep: int, now: Any) -> dict[str, tuple[Fetch, int | None, int]]:
    """By name: what fetches a page, the position of the first page and of the deep one."""
    tenant = f"{OWNER}0"

    def page(**filters: Any) -> Fetch:
        return lambda before: selectors.page(tenant, before=before, count=PAGE + 1, **filters)

    # Rows of one type are every fourth; the deep page has to exist for them, too.
    behind = mine - deep * PAGE
    behind_of_type = max(mine - deep * PAGE * 4, PAGE * 8)
    middle = now - timedelta(seconds=mine // 2)
    return {
        "no filter": (page(), None, behind),
        "one type": (page(types=["credit"]), None, behind_of_type),
        "two types": (page(types=["credit", "settlement"]), None, behind_of_type),
        "createdAfter": (page(created_after=now - timedelta(days=9999)), None, behind),
        "createdBefore": (page(created_before=now), None, behind),
        "created between, two types": (
            page(
                created_after=now - timedelta(days=9999),
                created_before=middle,
                types=["lock", "debit"],
            ),
            None,
            min(behind_of_type, mine // 2 - PAGE * 8),
        ),
    }


def _milliseconds(fetch: Fetch, before: int | None) -> list[float]:
    for _ in range(5):  # plans settle after five executions
        if len(fetch(before)) != PAGE + 1:
            raise CannotMeasure(f"there is no whole page before {before}")
    took = []
    for _ in range(RUNS):
        began = time.perf_counter()
        fetch(before)
        took.append((time.perf_counter() - began) * 1000)
    return took
