"""The names of other packages that promise nothing, and that our code touches all the same.

An upgrade that moves one fails here by its name, before money meets it. `common/engine/README.md`
says what to read then.
"""

from __future__ import annotations

import importlib
import inspect

import pytest

# Where the name is, the name, and which of our files touches it.
NAMES = [
    ("django.db.transaction:Atomic", "__exit__", "postgresql/atomic.py"),
    ("django.db.backends.utils", "debug_transaction", "postgresql/fast.py"),
    ("django.db.backends.postgresql.base", "ServerBindingCursor", "postgresql/fast.py"),
    *(
        ("django.db.backends.postgresql.base:DatabaseWrapper", name, "postgresql/")
        for name in (
            "_commit", "_connection_pools", "_rollback", "_savepoint", "_savepoint_commit",
            "_savepoint_rollback", "_set_autocommit",
            "close_if_health_check_failed", "ensure_connection", "execute_wrappers",
            "force_debug_cursor", "get_connection_params", "get_new_connection",
            "health_check_done", "in_atomic_block", "init_connection_state", "is_usable",
            "needs_rollback", "pool", "queries_logged", "rollback_exc", "savepoint_ids",
            "set_rollback", "validate_no_broken_transaction", "wrap_database_errors",
        )
    ),
    ("django.db.models.sql.compiler:SQLCompiler", "as_sql", "compiled_rows.py"),
    ("django.db.models.sql.query:Query", "get_compiler", "compiled_rows.py"),
    ("django.db.models.base:ModelState", "adding", "sql.py"),
    ("django.db.models.base:ModelState", "db", "sql.py"),
    ("django.db.models.options:Options", "concrete_fields", "sql.py"),
    ("psycopg._preparing", "Prepare", "postgresql/prepared.py"),
    ("psycopg._preparing:PrepareManager", "get", "postgresql/prepared.py"),
    ("psycopg._preparing:PrepareManager", "prepare_threshold", "postgresql/fast.py"),
    ("psycopg._queries", "PostgresQuery", "postgresql/prepared.py"),
    ("psycopg:Connection", "_prepared", "postgresql/fast.py"),
    *(
        ("psycopg.adapt:Transformer", name, "postgresql/prepared.py")
        for name in ("set_loader_types", "set_pgresult", "load_rows")
    ),
    ("psycopg.adapt:AdaptersMap", "get_dumper_by_oid", "postgresql/prepared.py"),
    ("asyncio", "_get_running_loop", "sql.py"),
    *(
        ("gunicorn.workers.gthread:ThreadWorker", name, "gunicorn/worker.py")
        for name in (
            "accept", "enqueue_req", "finish_request", "handle_error", "handle_request",
            "init_process", "keepalived_conns", "murder_pending", "nr_conns",
            "on_client_socket_readable", "poller",
        )
    ),
    *(
        ("gunicorn.workers.gthread:TConn", name, "gunicorn/connections.py")
        for name in (
            "cfg", "client", "close", "data_ready", "initialized", "parser", "sock", "timeout",
        )
    ),
    ("gunicorn.http.parser:Parser", "unreader", "gunicorn/received.py"),
    ("gunicorn.http.parser:RequestParser", "__next__", "gunicorn/received.py"),
    ("gunicorn.http.message:Request", "_expected_100_continue", "gunicorn/received.py"),
    ("gunicorn.http.message:Request", "body", "gunicorn/received.py"),
    ("gunicorn.http.body:Body", "reader", "gunicorn/received.py"),
    ("gunicorn.http.body:LengthReader", "length", "gunicorn/received.py"),
    ("gunicorn.http.body", "ChunkedReader", "gunicorn/received.py"),
    ("gunicorn.http.unreader:Unreader", "chunk", "gunicorn/received.py"),
    ("gunicorn.http.unreader:Unreader", "take_buffered", "gunicorn/received.py"),
    ("gunicorn.http.wsgi:Response", "sent", "gunicorn/answers.py"),
    ("gunicorn.http.wsgi:Response", "write", "gunicorn/answers.py"),
    ("gunicorn.http.wsgi:Response", "write_file", "gunicorn/answers.py"),
    ("gunicorn.util", "write_nonblock", "config/web_refusals.py"),
    ("kombu.pools", "producers", "wakeups.py"),
    ("celery.beat:PersistentScheduler", "_heap", "config/beat_scheduler.py"),
    ("django_prometheus.middleware:PrometheusAfterMiddleware", "_method", "config/middleware.py"),
    (
        "django_prometheus.middleware:PrometheusAfterMiddleware",
        "_get_view_name",
        "config/middleware.py",
    ),
]  # fmt: skip


def has(owner: object, name: str) -> bool:
    """Whether it has the attribute, or its instances are given it by a method of its classes."""
    if hasattr(owner, name):
        return True
    if not inspect.isclass(owner):
        return False
    sources = [_source_of(kind) for kind in owner.__mro__[:-1]]
    return any(f"self.{name} =" in source or f"self.{name}:" in source for source in sources)


def _source_of(kind: type) -> str:
    """Nothing for a class that was made without any."""
    try:
        return inspect.getsource(kind)
    except (OSError, TypeError):
        return ""


def lost(place: str, name: str, user: str) -> str | None:
    """What to tell whoever upgraded, should the name have moved."""
    module, _, kind = place.partition(":")
    try:
        owner = importlib.import_module(module)
        owner = getattr(owner, kind) if kind else owner
    except (ImportError, AttributeError):
        return f"{place} is gone, and {user} needs its {name}: see common/engine/README.md."
    if not has(owner, name):
        return f"{place} has no {name} any more, which {user} touches: see common/engine/README.md."
    return None


def test_each_is_where_it_was():
    assert [line for row in NAMES if (line := lost(*row))] == []


@pytest.mark.parametrize(
    "place", ["no_such_module", "celery.beat:NoSuchClass", "celery.beat:PersistentScheduler"]
)
def test_what_is_lost_is_named(place):
    assert place in str(lost(place, "no_such_name", "config/beat_scheduler.py"))


def test_a_name_that_is_gone_is_missed():
    from django.db.backends.postgresql.base import DatabaseWrapper

    assert not has(DatabaseWrapper, "no_such_name")
