"""The plans of the statements that requests run under their own role, made for any values, as
PostgreSQL makes them for prepared statements that run often."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection
from psycopg import sql as composed
from psycopg._queries import PostgresQuery
from psycopg.adapt import Transformer
from psycopg.errors import Diagnostic

from tests.database import owner

# The lines about one thing, say, which another condition of the same filter throws away.
FEW = 10
_TOLD_INSIDE = {
    "auto_explain.log_nested_statements": "on",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_format": "json",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_level": "notice",
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
}
# A sub-select's rows are judged where it reads them; this looks them up for rows of the tenant's.
_LOOKED_UP = re.compile(r"tenant_id\)::text = \(hashed SubPlan")
_PARTITION = re.compile(r"_\d\d$")


class Read(NamedTuple):
    """What one node of a plan read of a table or index, and what it threw away of it by which
    condition."""

    what: str
    rows: float
    removed: float
    node: str
    filtered: str


class Plans:
    """Looks at the plans of each statement that requests run under their role."""

    def __init__(self) -> None:
        self.read: dict[str, list[Read]] = defaultdict(list)
        self.looked_at = 0

    def __call__(self, execute, statement, values, many, context):
        result = execute(statement, values, many, context)
        if not many and _told("SELECT current_user") == settings.DATABASE_API["USER"]:
            self._look(str(statement), values)
        return result

    @classmethod
    @contextmanager
    def noted(cls) -> Iterator[Plans]:
        """Those of the statements in the block."""
        plans = cls()
        with connection.execute_wrapper(plans):
            yield plans

    def _look(self, statement: str, values: Any) -> None:
        word = statement.split(maxsplit=1)[0].upper()
        if word not in {"SELECT", "WITH", "UPDATE", "INSERT", "DELETE"}:
            return
        self.looked_at += 1
        reads_only = word == "SELECT" and "balance_" + "post" not in statement
        self.read[statement] += _reads(_plan(statement, values, run=reads_only))

    def look_inside(self, plan: Mapping[str, Any], statement: str) -> None:
        """Note a plan that PostgreSQL told, of a statement inside of a function."""
        self.looked_at += 1
        self.read[statement] += _reads(plan)

    def foreign(self, tables: Collection[str]) -> dict[str, list[Read]]:
        """What was read of these tables and is another tenant's, or was read from end to end."""
        found = {
            statement: [each for each in reads if _is_foreign(each, tables)]
            for statement, reads in self.read.items()
        }
        return {statement: reads for statement, reads in found.items() if reads}


@contextmanager
def inside_functions() -> Iterator[Plans]:
    """The plans of the statements that functions run in the block, made for any values, too.

    PostgreSQL's `auto_explain` tells them as notices of this session, whichever role asks.
    """
    plans = Plans()

    def hear(notice: Diagnostic) -> None:
        _, is_plan, text = (notice.message_primary or "").partition("plan:\n")
        if is_plan:
            told = json.loads(text)
            plans.look_inside(told["Plan"], told["Query Text"])

    with owner.as_superuser(), connection.cursor() as cursor:
        cursor.execute("LOAD 'auto_explain'")
        for name, value in _TOLD_INSIDE.items():
            cursor.execute(f"SET {name} = {value}")
    connection.connection.add_notice_handler(hear)
    try:
        yield plans
    finally:
        connection.connection.remove_notice_handler(hear)
        with owner.as_superuser(), connection.cursor() as cursor:
            for name in _TOLD_INSIDE:
                cursor.execute(f"RESET {name}")


def _is_foreign(read: Read, tables: Collection[str]) -> bool:
    if _PARTITION.sub("", read.what) not in tables:
        return False
    by_tenant = "tenant_id" in _LOOKED_UP.sub("", read.filtered)
    return read.node == "Seq Scan" or (read.removed > FEW and by_tenant)


def _told(statement: str) -> str:
    result = connection.connection.pgconn.exec_(statement.encode())
    assert result.ntuples or result.command_status, (statement, result.error_message)
    return (result.get_value(0, 0) or b"").decode() if result.ntuples else ""


def _plan(statement: str, values: Any, *, run: bool) -> Mapping[str, Any]:
    """PostgreSQL's plan of the statement for any values, which those that run often get."""
    raw = connection.connection
    query = PostgresQuery(Transformer(raw))
    query.convert(statement, values)
    given = [values[name] for name in query._order] if query._order else list(values or ())
    shown = ", ".join(composed.Literal(value).as_string(raw) for value in given)
    types = ", ".join(
        _told(f"SELECT format_type({oid}, NULL)") if oid else "unknown" for oid in query.types
    )
    # Of a short table reading all of it is cheap: what counts is whether an index could be used.
    _told("SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off")
    _told(f"PREPARE looked_at{f' ({types})' if types else ''} AS {query.query.decode()}")
    how = "ANALYZE, TIMING OFF, FORMAT JSON" if run else "FORMAT JSON"
    text = _told(f"EXPLAIN ({how}) EXECUTE looked_at{f' ({shown})' if shown else ''}")
    _told("DEALLOCATE looked_at")
    _told("RESET plan_cache_mode; RESET enable_seqscan")
    plan: Mapping[str, Any] = json.loads(text)[0]["Plan"]
    return plan


def _reads(node: Mapping[str, Any]) -> Iterator[Read]:
    name = node.get("Relation Name") or node.get("Index Name")
    if name:
        loops = node.get("Actual Loops", 1)
        rows = node.get("Actual Rows", 0)
        removed = sum(node.get(f"Rows Removed by {why}", 0) for why in ("Filter", "Index Recheck"))
        filtered = str(node.get("Filter", ""))
        yield Read(name, rows * loops, removed * loops, node["Node Type"], filtered)
    for part in node.get("Plans", ()):
        yield from _reads(part)
