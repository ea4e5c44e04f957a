"""The tenants' request log: what their keys asked for and how we answered. Of the body it has the
fields that may be kept (api/request_fields.py).

A request costs one append to a list in memory. A thread of each web process writes the list to the
database once a second with one INSERT, so that a read request needs no commit. A process that is
killed loses its last second; the log helps people look for a mistake and is not a record of
anything.
"""

from __future__ import annotations

import atexit
import json
import os
import threading
from collections import deque
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import structlog
from django.conf import settings
from django.db import DataError, IntegrityError, connection
from django.db import Error as DatabaseProblem
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from psycopg import DataError as DriverDataError
from psycopg import Error as DriverProblem
from psycopg import IntegrityError as DriverIntegrityError

from api import request_fields
from api.addresses import client_address
from api.models import ApiRequest
from common import ids
from common.clock import utc_now
from common.database.job_doors import by
from common.database.jobs import WORKER
from common.database_clock import judged
from common.engine import arrays, sql
from common.errors import NotFound
from common.redaction import clean_text, without_secrets
from tenants.selectors import KeyHolder

log = structlog.get_logger(__name__)

# How many requests a process holds at most while the database is away; the oldest are dropped.
HELD_MAX = 10_000
_FORGOTTEN_AT_ONCE = 5_000
_CREATED = 201
# Errors of a row, not of the database. COPY reports some of them in the driver's words.
_REFUSED = (
    DataError,
    DriverDataError,
    DriverIntegrityError,
    IntegrityError,
    TypeError,
    ValueError,
)

_INTERFACE = "api/v1/"  # where routes of the API begin
_COLUMNS = (
    "id", "tenant_id", "key_id", "request_id", "method", "path", "query", "fields", "status",
    "error_code", "problem", "idempotency_key", "address", "duration_us", "created_at",
    "made_id",
)  # fmt: skip
_TYPES = dict.fromkeys(_COLUMNS, "text") | {
    "fields": "jsonb", "status": "integer", "problem": "jsonb", "duration_us": "integer",
    "created_at": "timestamptz",
}  # fmt: skip
# PostgreSQL takes no COPY into a table whose rows are hidden from others.
_INSERT = (
    f"INSERT INTO {ApiRequest._meta.db_table} ({', '.join(_COLUMNS)}) SELECT * FROM unnest("  # noqa: S608  # names of ours
    + ", ".join(f"%({name})s::text::{kind}[]" for name, kind in _TYPES.items())
    + ")"
)


class Entry(NamedTuple):
    """One request, noted as cheaply as possible: it is cleaned and cut when it is written."""

    tenant_id: str
    key_id: str
    request_id: str
    method: str
    path: str
    query: str
    fields: dict[str, Any] | None
    status: int
    body: bytes
    idempotency_key: str
    address: str
    duration_us: int
    created_at: datetime
    location: str = ""  # of the answer, where it made something


class Held:
    """The requests that a process has not written yet, at most `most` of them."""

    def __init__(self, *, most: int = HELD_MAX) -> None:
        self._most = most
        self._entries: deque[Entry] = deque(maxlen=most)

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, entry: Entry) -> None:
        self._entries.append(entry)

    def flush(self) -> int:
        """Write what is held; returns how many rows. Without a database all are held again. If the
        database refuses the rows, halving them finds the bad ones, and only those are dropped."""
        held = [self._entries.popleft() for _ in range(len(self._entries))]
        written, waiting = 0, [held]
        while waiting:
            batch = waiting.pop()
            try:
                written += _insert(batch)
            except _REFUSED as error:
                waiting += reversed(_halves(batch, error))
            except (DatabaseProblem, DriverProblem) as error:
                rest = [*batch, *(entry for later in reversed(waiting) for entry in later)]
                log.warning("request_log_not_written", error=type(error).__name__, count=len(rest))
                self._hold_again(rest)
                break
        return written

    def _hold_again(self, batch: Sequence[Entry]) -> None:
        """Hold the newest of `batch` again, as far as there is room."""
        for entry in reversed(batch):
            if len(self._entries) < self._most:
                self._entries.appendleft(entry)


def note(
    request: HttpRequest, response: HttpResponse, *, holder: KeyHolder, duration_us: int
) -> None:
    """Keep this request for the next write. Takes microseconds and never raises or waits."""
    if not settings.REQUEST_LOG_SECONDS:
        return
    meta = request.META
    entry = Entry(
        tenant_id=holder.tenant_id,
        key_id=holder.key_id,
        request_id=meta.get("HTTP_X_REQUEST_ID", ""),
        method=request.method or "",
        path=request.path_info,
        query=meta.get("QUERY_STRING", ""),
        fields=_fields(request),
        status=response.status_code,
        body=response.content if response.status_code >= 400 else b"",
        idempotency_key=meta.get("HTTP_IDEMPOTENCY_KEY", ""),
        address=client_address(request),
        duration_us=duration_us,
        created_at=utc_now(),
        location=response.get("Location", "") if response.status_code == _CREATED else "",
    )
    _held.add(entry)
    _writer.start_once()


def flush() -> int:
    """Write what this process holds; returns how many rows."""
    return _held.flush()


def _fields(request: HttpRequest) -> dict[str, Any] | None:
    """What may be kept of the body, which BodyLimitMiddleware has read."""
    match = request.resolver_match
    if match is None:
        return None
    route = match.route.removeprefix(_INTERFACE)
    return request_fields.kept(request.method or "", route, getattr(request, "_body", b""))


def _insert(batch: Sequence[Entry]) -> int:
    """Write all of `batch` or nothing."""
    if not batch:
        return 0
    columns = zip(*(_row(entry) for entry in batch), strict=True)
    sql.rows(_INSERT, dict(zip(_COLUMNS, map(arrays.mixed, columns), strict=True)))
    return len(batch)


def _halves(batch: list[Entry], error: Exception) -> list[list[Entry]]:
    """What to try instead of `batch`. Nothing for a single row, which would be refused again."""
    if len(batch) > 1:
        middle = len(batch) // 2
        return [batch[:middle], batch[middle:]]
    log.error(
        "request_log_row_dropped",
        error=type(error).__name__,
        dropped_request_id=batch[0].request_id,
        dropped_status=batch[0].status,
    )
    return []


def requests(*, tenant_id: str) -> QuerySet[ApiRequest]:
    """The tenant's requests, with their keys."""
    return ApiRequest.objects.filter(tenant_id=tenant_id).select_related("key")


def request(*, tenant_id: str, pk: str) -> ApiRequest:
    """One request of the tenant. Raises NotFound, also for another tenant's."""
    found = requests(tenant_id=tenant_id).filter(pk=pk).first() if ids.is_id(pk, "req") else None
    if found is None:
        raise NotFound("There is no such request; they are kept for some days only.")
    return found


def that_made(*, tenant_id: str, made_id: str) -> ApiRequest | None:
    """The tenant's request that made what has this id, without its key; None where it is not kept,
    and where no request made it. The first of several: the others repeated its idempotency key."""
    rows = ApiRequest.objects.filter(tenant_id=tenant_id, made_id=made_id).exclude(made_id="")
    return rows.order_by("created_at", "pk").first()


@by(WORKER)
@judged
def forget_old(*, now: datetime) -> int:
    """Delete requests older than REQUEST_LOG_DAYS, a batch per transaction; returns how many."""
    old = ApiRequest.objects.filter(created_at__lt=now - timedelta(days=settings.REQUEST_LOG_DAYS))
    forgotten = 0
    while batch := list(old.values_list("pk", flat=True)[:_FORGOTTEN_AT_ONCE]):
        deleted, _ = ApiRequest.objects.filter(pk__in=batch).delete()
        forgotten += deleted
    return forgotten


def _row(entry: Entry) -> Sequence[Any]:
    problem = _problem(entry.body)
    return (
        ids.new("req"),
        entry.tenant_id,
        entry.key_id,
        entry.request_id[:128],
        entry.method[:16],
        _storable(clean_text(entry.path), 300),
        _storable(clean_text(entry.query), 500),
        json.dumps(entry.fields) if entry.fields else None,
        entry.status,
        str(problem.get("code", ""))[:64] if problem else "",
        json.dumps(problem) if problem else None,
        _storable(without_secrets(entry.idempotency_key), 255),
        _storable(entry.address, 45),
        min(entry.duration_us, 2_147_483_647),
        entry.created_at,
        entry.location.rpartition("/")[2][: ids.ID_LENGTH_MAX],
    )


def _problem(body: bytes) -> dict[str, Any] | None:
    """The problem document of a refusal, without what the caller should not have sent."""
    if not body:
        return None
    try:
        found = json.loads(body)
    except ValueError:
        return None
    return _cleaned(found) if isinstance(found, dict) else None


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return _storable(clean_text(value), 1000)
    if isinstance(value, dict):
        return {str(name): _cleaned(item) for name, item in value.items()}
    return [_cleaned(item) for item in value] if isinstance(value, list) else value


def _storable(text: str, length: int) -> str:
    """The text, cut, and without characters that PostgreSQL refuses."""
    return text[:length].encode("utf-8", "replace").decode().replace("\0", "\ufffd")


class Writer:
    """The thread that writes what is held. One per process; the first request starts it."""

    def __init__(self, held: Held) -> None:
        self._held = held
        self._pid = 0
        self._lock = threading.Lock()
        self._ends = threading.Event()

    def start_once(self) -> None:
        if self._pid == os.getpid():
            return
        with self._lock:
            if self._pid != os.getpid():
                self._pid = os.getpid()
                threading.Thread(target=self._run, name="request-log", daemon=True).start()
                atexit.register(self.end)

    def end(self) -> None:
        """Write what is left, and no more after that."""
        self._ends.set()
        self._write()

    def _run(self) -> None:
        while not self._ends.wait(settings.REQUEST_LOG_SECONDS):
            self._write()

    def _write(self) -> None:
        try:
            self._held.flush()
        except Exception:  # the next second is another chance, and nobody else would be told
            log.exception("request_log_failed")
        finally:
            connection.close()  # back to the pool: an idle process holds none


_held = Held()
_writer = Writer(_held)
