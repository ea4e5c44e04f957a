"""`Idempotency-Key`: the same request twice has one effect and one answer.

The record is written in the database transaction of the effect, so neither ever exists without the
other. While the first request runs, an advisory lock makes a second one answer 409 at once instead
of waiting. If a request must first ask somebody else's server, its connection holds the lock from
before that.

Answers are stored encrypted, because they name people and accounts. A secret that is shown once is
not stored: a repeat gets null in its place, and a header that says so.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.http import HttpResponse

from api import errors, problems
from api.authentication import TenantRequest
from api.models import IdempotencyRecord
from common import crypto
from common.clock import utc_now
from common.database.constraints import violated
from common.database.job_doors import by
from common.database.jobs import WORKER
from common.database_clock import judged
from common.engine import sql
from common.engine.transactions import deferring
from common.errors import DomainError

KEPT_FOR = timedelta(days=30)
_FORGOTTEN_AT_ONCE = 1000
_KEY = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?")
_KEPT_HEADERS = ("Content-Type", "Location", "Cache-Control")
SHOWN_ONCE = "secret"  # of an answer's `data`
# Refusals that are not stored, because an identical request may later get another answer.
_NOT_KEPT = {400, 401, 403, 429}
# One round trip. A request that ends between the look and the lock leaves an answer that this one
# does not see. Then storing a second answer fails, and the look is repeated.
_LOOK = """
SELECT locked.is_ours, record.fingerprint, record.id
FROM (SELECT pg_try_advisory_xact_lock(%(number)s) AS is_ours) AS locked
LEFT JOIN api_idempotencyrecord AS record
    ON record.tenant_id = %(tenant_id)s AND record.key = %(key)s
"""
_ONE_ANSWER = "one_answer_per_key"

View = Callable[..., HttpResponse]
Run = Callable[[], HttpResponse]


def idempotent(view: View) -> View:
    """Run a write action in one transaction with its idempotency record.

    A view that must call somebody else's server first (never inside a transaction) defines
    `prepare_<action>(request, **kwargs)`; what it returns is passed to the action as `prepared`.
    """

    @functools.wraps(view)
    def wrapper(self: Any, request: TenantRequest, **kwargs: Any) -> HttpResponse:
        key = _key_of(request)
        run: Callable[..., HttpResponse] = functools.partial(view, self, request, **kwargs)
        prepare = getattr(self, f"prepare_{view.__name__}", None)
        if prepare is None:
            return _run_once(request, key, run) if key else _run(run)
        ask = functools.partial(prepare, request, **kwargs)
        return _prepare_once(request, key, run, ask) if key else _run(_prepared(run, ask))

    wrapper.is_idempotent = True  # type: ignore[attr-defined]  # a test looks for it on every write
    return wrapper


@by(WORKER)
@judged
def forget_old(*, now: datetime) -> int:
    """Delete records older than 30 days, a batch per transaction; returns how many."""
    old = IdempotencyRecord.objects.filter(created_at__lt=now - KEPT_FOR)
    forgotten = 0
    while batch := list(old.values_list("pk", flat=True)[:_FORGOTTEN_AT_ONCE]):
        deleted, _ = IdempotencyRecord.objects.filter(pk__in=batch).delete()
        forgotten += deleted
    return forgotten


def _prepared(run: View, prepare: Callable[[], Any]) -> Run:
    """Run the view with what `prepare` returned. If `prepare` refuses, that is the answer, and it
    is stored."""
    try:
        return functools.partial(run, prepared=prepare())
    except DomainError as refusal:
        return functools.partial(_refuse, refusal)


def _refuse(refusal: DomainError) -> HttpResponse:
    raise refusal


def _run(run: Run) -> HttpResponse:
    with transaction.atomic(), deferring():
        return run()


def _prepare_once(
    request: TenantRequest, key: str, run: View, prepare: Callable[[], Any]
) -> HttpResponse:
    """`_run_once` for a view that asks somebody else's server first. That server is asked once,
    too."""
    number = {"number": _number_of(request.auth.tenant_id, key)}
    ((is_ours,),) = sql.rows("SELECT pg_try_advisory_lock(%(number)s)", number)
    try:
        replay = _replay(request, key)
        if replay is None and not is_ours:
            raise _in_progress()
        return replay or _run_once(request, key, _prepared(run, prepare))
    finally:
        if is_ours:
            sql.rows("SELECT pg_advisory_unlock(%(number)s)", number)


def _run_once(request: TenantRequest, key: str, run: Run) -> HttpResponse:
    """The view's answer, stored in the transaction of its effect.

    A refusal undoes what the view did, and is also an answer: it has no effect, so it is stored in
    a transaction of its own. That spares every other request a savepoint.
    """
    try:
        return _answer_once(request, key, run)
    except _Refused as refused:
        refusal = refused.refusal
    answer = problems.response(refusal)
    if refusal.is_passing or answer.status_code in _NOT_KEPT:
        return answer
    return _answer_once(request, key, lambda: answer)


def _answer_once(request: TenantRequest, key: str, run: Run) -> HttpResponse:
    """The stored answer; without one, the answer of `run`, stored in the same transaction."""
    try:
        with transaction.atomic():
            return _replay(request, key) or _kept(request, key, run)
    except IntegrityError as error:
        if violated(error) != _ONE_ANSWER:
            raise
        return _answer_once(request, key, run)


class _Refused(Exception):
    """Carries what the view refused out of the transaction."""

    def __init__(self, refusal: DomainError) -> None:
        super().__init__(refusal)
        self.refusal = refusal


def _kept(request: TenantRequest, key: str, run: Run) -> HttpResponse:
    """The answer of `run`, stored unless it may change later. Raises _Refused."""
    try:
        with deferring():
            response = run()
            if response.status_code < 500 and response.status_code not in _NOT_KEPT:
                _keep(request, key, response)
    except DomainError as refusal:
        if errors.status_of(type(refusal)) >= 500:
            raise
        raise _Refused(refusal) from refusal
    return response


def _key_of(request: TenantRequest) -> str | None:
    """The key, bare or as a quoted structured-field string. Raises InvalidIdempotencyKey."""
    text: str | None = request.META.get("HTTP_IDEMPOTENCY_KEY")
    if text is None:
        return None
    if len(text) >= 2 and text.startswith('"') and text.endswith('"'):
        text = text[1:-1]
    if not _KEY.fullmatch(text) or '"' in text:
        raise errors.InvalidIdempotencyKey("Send 1 to 255 printable ASCII characters.")
    return text


def _fingerprint(request: TenantRequest) -> str:
    raw = request._request
    parts = (raw.method or "", raw.get_full_path(), hashlib.sha256(raw.body).hexdigest())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _number_of(tenant_id: str, key: str) -> int:
    digest = hashlib.sha256(f"{tenant_id}\0{key}".encode()).digest()
    return int.from_bytes(digest[:8], signed=True)


def _replay(request: TenantRequest, key: str) -> HttpResponse | None:
    """The stored answer; None if this request may run, and no other one with its key until the
    transaction ends.

    Raises IdempotencyInProgress, IdempotencyKeyReused.
    """
    tenant_id = request.auth.tenant_id
    number = _number_of(tenant_id, key)
    values = {"number": number, "tenant_id": tenant_id, "key": key}
    ((is_ours, fingerprint, record_id),) = sql.rows(_LOOK, values)
    if record_id is None:
        if not is_ours:
            raise _in_progress()
        return None
    if fingerprint != _fingerprint(request):
        raise errors.IdempotencyKeyReused(
            "This Idempotency-Key was used for a request with another method, path or body."
        )
    return _response(record_id)


def _in_progress() -> DomainError:
    return errors.IdempotencyInProgress(
        "A request with this Idempotency-Key is running.", headers={"Retry-After": "1"}
    )


def _response(record_id: str) -> HttpResponse:
    record = IdempotencyRecord.objects.get(pk=record_id)
    body = crypto.decrypt(record.body_token, context=record.encryption_context)
    # Again, because the releases before decision 0172 stored secrets, too.
    response = HttpResponse(_without_secret(body).encode(), status=record.status)
    for name, value in record.headers.items():
        response[name] = value
    response["Idempotent-Replayed"] = "true"
    if _has_secret(body):
        response["Idempotent-Withheld"] = SHOWN_ONCE
    return response


def _without_secret(body: str) -> str:
    """The body of an answer with null for what is shown only once."""
    if not _has_secret(body):
        return body
    answer = json.loads(body)
    answer["data"][SHOWN_ONCE] = None
    return json.dumps(answer, separators=(",", ":"))


def _has_secret(body: str) -> bool:
    """Whether the answer has the field. Few have, so the text is searched before it is read."""
    if f'"{SHOWN_ONCE}"' not in body:
        return False
    data = json.loads(body).get("data")
    return isinstance(data, dict) and SHOWN_ONCE in data


def _keep(request: TenantRequest, key: str, response: HttpResponse) -> None:
    record = IdempotencyRecord(
        tenant_id=request.auth.tenant_id,
        key=key,
        fingerprint=_fingerprint(request),
        status=response.status_code,
        headers={name: response[name] for name in _KEPT_HEADERS if name in response},
        created_at=utc_now(),
    )
    body = _without_secret(response.content.decode())
    record.body_token = crypto.encrypt(body, context=record.encryption_context)
    sql.insert(record)
