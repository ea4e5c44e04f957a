"""A view set that exists only in tests, to try the shared machinery without any domain.

Mounted by the fixture `machinery`. A note is an audit event of the caller's
tenant: the smallest row of a tenant that the product has.
"""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from threading import Thread
from typing import Any, ClassVar

import django_filters
from django.db import OperationalError, connection
from django.http import HttpResponse
from django.urls import include, path
from psycopg.errors import LockNotAvailable

from api import idempotency, responses
from api.authentication import TenantRequest
from api.deprecation import Deprecation
from api.fields import CentsField, MetadataField, StrictBooleanField, StrictChoiceField, TextField
from api.filters import StrictFilterSet
from api.idempotency import idempotent
from api.pagination import paginate
from api.serializers import StrictSerializer, validated
from api.throttling import Buckets, KeyRateThrottle
from api.views import ApiViewSet
from common.clock import utc_now
from common.errors import Conflict, DomainError, Forbidden, NotFound, RuleViolation, Unavailable
from funding.models import FundingTransaction
from tenants.models import AuditEvent, Tenant
from tenants.services import audit
from tests.database import owner


class NoteTaken(Conflict):
    code = "test_note_taken"
    title = "Taken"
    advice = "Only tests see this."


class NoteRefused(RuleViolation):
    code = "test_note_refused"
    title = "Refused"
    advice = "Only tests see this."


class NoteForbidden(Forbidden):
    code = "test_note_forbidden"
    title = "Forbidden"
    advice = "Only tests see this."


class NoteServerDown(Unavailable):
    code = "test_note_server_down"
    title = "Down"
    advice = "Only tests see this."


REFUSALS: dict[str, DomainError] = {
    "not_found": NotFound("There is no such note."),
    "conflict": NoteTaken("This note exists.", existing_id="aud_1"),
    "rule": NoteRefused("Not this one.", field="amount", available_balance=5),
    "forbidden": NoteForbidden("Not you."),
    "unavailable": NoteServerDown("Try later."),
}


class NoteIn(StrictSerializer):
    amount = CentsField()
    text = TextField(max_length=40, required=False)
    kind = StrictChoiceField(("a", "b"), required=False)
    urgent = StrictBooleanField(required=False)
    metadata = MetadataField(required=False)
    outcome = TextField(required=False)
    id = TextField(read_only=True)


class NoteFilter(StrictFilterSet):
    action = django_filters.MultipleChoiceFilter(choices=(("a", "a"), ("b", "b")))
    subjectId = django_filters.CharFilter(field_name="subject_id")
    createdAfter = django_filters.IsoDateTimeFilter(field_name="created_at", lookup_expr="gt")


def present(note: AuditEvent) -> dict[str, Any]:
    return {"id": note.pk, "action": note.action}


def take_note(request: TenantRequest, body: dict[str, Any], *, action: str = "note") -> AuditEvent:
    return audit.record(
        tenant_id=request.auth.tenant_id,
        actor=request.auth.actor,
        action=action,
        details={"amount": body["amount"]},
        now=utc_now(),
    )


def answer_elsewhere(request: TenantRequest) -> None:
    """Another connection keeps an answer to this very request, and is done."""

    def keep() -> None:
        idempotency._keep(request, "k1", responses.data({"id": "elsewhere"}, status=201))
        connection.close()

    thread = Thread(target=keep)
    thread.start()
    thread.join()


class NoteViewSet(ApiViewSet):
    scopes: ClassVar = {
        "list": "funding:read",
        "plain_list": "funding:read",
        "by_id": "funding:read",
        "create": "funding:write",
        "link": "funding:write",
        "retrieve": "funding:read",
    }
    parameterized: ClassVar = frozenset({"list", "plain_list", "by_id"})
    deprecated: ClassVar = {
        "plain_list": Deprecation(
            since=datetime(2026, 11, 20, tzinfo=UTC),
            sunset=datetime(2027, 11, 20, tzinfo=UTC),
            guide="/docs/api#notes",
        )
    }

    def list(self, request: TenantRequest) -> HttpResponse:
        notes = AuditEvent.objects.filter(tenant_id=request.auth.tenant_id, subject_id="list")
        return paginate(request, NoteFilter.apply(request, notes), present=present)

    def plain_list(self, request: TenantRequest) -> HttpResponse:
        notes = AuditEvent.objects.filter(tenant_id=request.auth.tenant_id, subject_id="list")
        rows = notes.values("pk", "created_at", "action")
        return paginate(request, rows, present=lambda row: {"id": row["pk"]})

    def by_id(self, request: TenantRequest) -> HttpResponse:
        notes = AuditEvent.objects.filter(tenant_id=request.auth.tenant_id, subject_id="list")
        keys = ("pk",) if request.headers.get("X-Keys") == "one" else ("created_at", "pk")
        return paginate(request, notes, present=present, keys=keys)

    def retrieve(self, request: TenantRequest, note_id: str) -> HttpResponse:
        if note_id == "bug":
            raise RuntimeError("account 000123456789 of bal_test_abc is broken")
        if note_id == "locked":
            raise OperationalError("lock timeout") from LockNotAvailable()
        if not AuditEvent.objects.filter(pk=note_id, tenant_id=request.auth.tenant_id).exists():
            raise NotFound("There is no such note.")
        return responses.data({"id": note_id})

    @idempotent
    def create(self, request: TenantRequest) -> HttpResponse:
        body = validated(NoteIn, request.data)
        note = take_note(request, body)
        outcome = body.get("outcome", "")
        if outcome in REFUSALS:
            raise REFUSALS[outcome]
        if outcome == "bug":
            raise RuntimeError("a bug")
        if outcome == "answered elsewhere":
            answer_elsewhere(request)
        if outcome in TROUBLES:
            TROUBLES[outcome](request.auth.tenant_id)
        return responses.data(
            {"id": note.pk, "amount": body["amount"]}, status=201, location=f"/notes/{note.pk}"
        )

    def prepare_link(self, request: TenantRequest) -> str:
        """Plays the call to somebody else's server."""
        body = validated(NoteIn, request.data)
        assert not connection.in_atomic_block or connection.savepoint_ids == []
        if body.get("outcome") in REFUSALS:
            raise REFUSALS[body["outcome"]]
        take_note(request, body, action="asked")
        return f"prepared {body['amount']}"

    @idempotent
    def link(self, request: TenantRequest, prepared: str) -> HttpResponse:
        take_note(request, validated(NoteIn, request.data))
        return responses.data({"prepared": prepared}, status=201)


def _swallow_a_failed_statement(_tenant_id: str) -> None:
    """PostgreSQL refuses everything after it until the transaction ends."""
    with contextlib.suppress(Exception), connection.cursor() as cursor:
        cursor.execute("SELECT 1 / 0")


def _lose_the_connection(_tenant_id: str) -> None:
    """What a kill of PostgreSQL, a failover or a cut network looks like from here."""
    with owner.as_superuser(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")


def _wait_for_the_tenant_row(tenant_id: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '100ms'")
    Tenant.objects.select_for_update().get(pk=tenant_id)


class EverythingViewSet(ApiViewSet):
    """A view that forgot whose rows it may show."""

    scopes: ClassVar[dict[str, str]] = {"list": "funding:read"}

    def list(self, request: TenantRequest) -> HttpResponse:
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_user, session_user")
            role, login = cursor.fetchone()
        return responses.data(
            {
                "role": role,
                "login": login,
                "tenants": list(Tenant.objects.values_list("pk", flat=True)),
                "fundings": list(FundingTransaction.objects.values_list("pk", flat=True)),
            }
        )


class OwnThrottle(KeyRateThrottle):
    """Meets Valkey at its first call, wherever the settings say then that it is."""

    buckets = Buckets()


class ThrottledNotes(NoteViewSet):
    throttle_classes = (OwnThrottle,)


TROUBLES = {
    "broken statement": _swallow_a_failed_statement,
    "lost connection": _lose_the_connection,
    "locked row": _wait_for_the_tenant_row,
}


NOTES = "/api/v1/test/notes"
WITHOUT_VALKEY = "/api/v1/test/notes-without-valkey"
urlpatterns = [
    path("api/v1/test/notes", NoteViewSet.as_view({"get": "list", "post": "create"})),
    path("api/v1/test/everything", EverythingViewSet.as_view({"get": "list"})),
    path("api/v1/test/notes-plain", NoteViewSet.as_view({"get": "plain_list"})),
    path("api/v1/test/notes-without-valkey", ThrottledNotes.as_view({"get": "list"})),
    path("api/v1/test/notes-by-id", NoteViewSet.as_view({"get": "by_id"})),
    path("api/v1/test/notes/link", NoteViewSet.as_view({"post": "link"})),
    path("api/v1/test/notes/<str:note_id>", NoteViewSet.as_view({"get": "retrieve"})),
    path("", include("config.urls")),
]
