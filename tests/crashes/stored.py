"""What an operation left in the database, without what is different in every run.

Rows that were written since a mark are found by their transaction's number, in every table. Ids,
times, secrets and counters are blanked, so that two runs of one operation leave the same.
"""

from __future__ import annotations

import json
import re
from typing import Any

import psycopg
from django.db import connection

Changes = tuple[str, ...]

# What says who asked, or how often something was tried, and not what was done.
_IGNORED = re.compile(
    r"django_(?!session)|webhooks_dispatcher|.*heartbeat|balance_ledger_check|balance_full_proof"
    r"|balance_check|.*ledgercheck|.*checkpoint|unfold_|solvency_"  # a proof is of all tenants
)
_SESSIONS = re.compile(r"django_session|usersessions_")
_BLANK = re.compile(
    r"id|prefix|request_id|number|line|expected_line|submissions|.*_token|digest|.*_digest|amounts|.*_trace|trace_number|first_number|duration_ms|lease_version|attempts"
    r"|last_error|notify_rise|certificate|signing_request|leased_until|fingerprint|.*_fingerprint|next_attempt_at|password|last_login"
    r"|.*event_id|dishonored_id|contested_id|.*xact|.*_hash|head|seal|covers|chains|mac"
    r"|booked_on|round_number|session_.*|data|expire_date|ip|user_agent|last_seen_at|last_used_at"
)
# Says for some seconds that somebody is at work.
_PASSING = {"testing_until"}
_MASKS = (
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:\+00:00|Z)?"), "<time>"),
    (re.compile(r"\b([a-z]{2,5})_[0-9a-z]{26}\b"), r"\1_…"),
    (re.compile(r"\bbal_(test|live)_\w+"), r"bal_\1_…"),
    (re.compile(r"\b[a-z]+\d+@"), "<person>@"),
    (re.compile(r"SBX\d+"), "SBX…"),
    (re.compile(r"ACH\d{12}"), "ACH…"),
    (re.compile(r"\bbank\d+(?![a-z])"), "<bank>"),
    (re.compile(r'"9\d{9}"'), "<origin>"),
    (re.compile(r"\b\d{35}\b"), "<message>"),
    (re.compile(r'"recordId": "\d+"'), '"recordId": "…"'),
    (re.compile(r'"line": \d+'), '"line": …'),
    (re.compile(r"[A-Za-z0-9+/=_:.\-]{40,}"), "<opaque>"),
)
_TABLES = """
SELECT relname FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace
WHERE nspname = 'public' AND relkind = 'r' ORDER BY relname
"""


class Stored:
    """Looks at the test's database from a connection of its own."""

    def __init__(self) -> None:
        connection.ensure_connection()
        info = connection.connection.info
        self._own = psycopg.connect(
            host=info.host,
            port=info.port,
            user=info.user,
            password=info.password,
            dbname=info.dbname,
            autocommit=True,
            prepare_threshold=1,
        )
        names = [name for (name,) in self._own.execute(_TABLES) if not _IGNORED.match(name)]
        self._rows = " UNION ALL ".join(
            f"SELECT '{name}', to_jsonb(r)::text FROM \"{name}\" AS r"
            " WHERE r.xmin::text::bigint >= %(since)s"
            for name in names
        )
        self._counts = "SELECT " + ", ".join(f'(SELECT count(*) FROM "{name}")' for name in names)
        self._names = names
        self._since = 0
        self._before: list[int] = []

    def close(self) -> None:
        self._own.close()

    def mark(self) -> None:
        """What is there now is the beginning."""
        row = self._own.execute("SELECT pg_current_xact_id()::text::bigint").fetchone()
        assert row is not None
        self._since = row[0]
        self._before = self._count()

    def changes(self) -> Changes:
        """What was written since, blanked and in order, and in which tables rows came or went."""
        rows = self._own.execute(self._rows, {"since": self._since}).fetchall()
        lines = sorted(f"{_plain(name)} {_blanked(json.loads(text))}" for name, text in rows)
        counted = zip(self._names, self._before, self._count(), strict=True)
        moved: dict[str, int] = {}
        for name, before, after in counted:
            moved[_plain(name)] = moved.get(_plain(name), 0) + after - before
        return (*lines, *(f"{name} {count:+}" for name, count in moved.items() if count))

    def execute(self, statement: str) -> None:
        """Change something beside the product, such as ending leases."""
        self._own.execute(statement)

    def read(self, query: str) -> list[tuple[Any, ...]]:
        """What is stored now."""
        return self._own.execute(query).fetchall()

    def _count(self) -> list[int]:
        row = self._own.execute(self._counts).fetchone()
        assert row is not None
        return list(row)


def without_sessions(changes: Changes) -> Changes:
    """Who is signed in where, or looks at what, is no part of most operations."""
    return tuple(line for line in changes if not _SESSIONS.match(line))


def masked(text: str) -> str:
    """Without ids, times and secrets."""
    for pattern, instead in _MASKS:
        text = pattern.sub(instead, text)
    return text


def _plain(name: str) -> str:
    """A partition by the name of its table."""
    return re.sub(r"_(p?\d+)$", "", name)


def _blanked(row: dict[str, Any]) -> str:
    kept = sorted(row.keys() - _PASSING)
    return masked(json.dumps({name: _value(name, row[name]) for name in kept}))


def _value(name: str, value: Any) -> Any:
    if value is None:
        return None
    if _BLANK.fullmatch(name) or (isinstance(value, int) and name.endswith("_id")):
        return "<blank>"
    if name == "subject_id" and str(value).isdecimal():
        return "<blank>"
    if isinstance(value, str) and value.startswith("\\x"):
        return bytes.fromhex(value[2:]).decode(errors="replace")
    return value
