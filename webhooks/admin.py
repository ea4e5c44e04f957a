"""Staff look at webhooks here; what they change goes through services. Secrets are never shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TypeVar
from urllib.parse import urlsplit

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from common.admin import ReadOnlyAdmin
from common.clock import utc_now
from common.errors import DomainError
from tenants import actors, switches
from tenants.actors import Actor
from webhooks.events import EVERY_PAYMENT
from webhooks.models import (
    DisabledReason,
    DispatcherHeartbeat,
    WebhookAttempt,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
)
from webhooks.services import deliveries, endpoints

Row = TypeVar("Row", bound=Model)
_DONE = "done."
_PAID = frozenset({"ftx", "pay"})  # what ids of fundings and payments begin with


def _enable(row: WebhookEndpoint, actor: Actor) -> str:
    endpoints.enable(tenant_id=row.tenant_id, endpoint_id=row.pk, actor=actor, now=utc_now())
    return _DONE


def _disable(row: WebhookEndpoint, actor: Actor) -> str:
    endpoints.disable(
        tenant_id=row.tenant_id,
        endpoint_id=row.pk,
        reason=DisabledReason.STAFF,
        actor=actor,
        now=utc_now(),
    )
    return _DONE


def _resend(row: WebhookDelivery, actor: Actor) -> str:
    deliveries.resend(tenant_id=row.tenant_id, delivery_id=row.pk, actor=actor, now=utc_now())
    is_stopped = switches.stop_of_webhooks(tenant_id=row.tenant_id) is not None
    return "sent once sending webhooks resumes." if is_stopped else _DONE


def _apply(request: HttpRequest, rows: Iterable[Row], act: Callable[[Row, Actor], str]) -> None:
    """Apply `act` to each row as the signed-in member of staff, and show what it says it did, or
    why it was refused."""
    actor = actors.staff(str(request.user.pk))
    for row in rows:
        try:
            said = act(row, actor)
        except DomainError as refusal:
            messages.warning(request, f"{row.pk}: {refusal.detail}")
        else:
            messages.success(request, f"{row.pk}: {said}")


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(ReadOnlyAdmin):
    list_display = (
        "tenant",
        "url",
        "status",
        "disabled_reason",
        "consecutive_failures",
        "last_success_at",
    )
    list_display_links = ("url",)
    list_filter = ("status", "disabled_reason")
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "tenant__id__exact")
    search_help_text = "The id of the endpoint or its tenant"
    exclude = ("secret_token", "previous_secret_token", "events")
    readonly_fields = ("status", "sent")
    actions = ("switch_on", "switch_off")

    @admin.display(description="events")
    def sent(self, row: WebhookEndpoint) -> str:
        return "All payment events" if row.events == [EVERY_PAYMENT] else ", ".join(row.events)

    @admin.action(description="Switch on", permissions=["switch"])
    def switch_on(self, request: HttpRequest, rows: QuerySet[WebhookEndpoint]) -> None:
        _apply(request, rows, _enable)

    @admin.action(description="Switch off", permissions=["switch"])
    def switch_off(self, request: HttpRequest, rows: QuerySet[WebhookEndpoint]) -> None:
        _apply(request, rows, _disable)

    def has_switch_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("webhooks.change_webhookendpoint")


@admin.register(WebhookEvent)
class WebhookEventAdmin(ReadOnlyAdmin):
    list_display = ("tenant", "created_at", "type", "payment_id")
    list_display_links = ("created_at",)
    list_select_related = ("tenant",)
    search_fields = ("id__exact", "tenant__id__exact", "payment_id__exact")
    search_help_text = "The id of the event, its tenant, or its payment"
    desk_page = "desk:event"


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(ReadOnlyAdmin):
    list_display = (
        "tenant",
        "created_at",
        "event_type",
        "host",
        "status",
        "attempts",
        "answer",
        "next_at",
    )
    list_display_links = ("created_at",)
    list_filter = ("status", "is_parked", "is_manual")
    list_select_related = ("tenant", "event", "endpoint")
    search_fields = ("id__exact", "event__id__exact", "endpoint__id__exact")
    search_help_text = "The id of the delivery, its event or its endpoint, or of its payment"
    raw_id_fields = ("event", "endpoint")
    actions = ("resend",)
    desk_page = "desk:delivery"

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[WebhookDelivery], search_term: str
    ) -> tuple[QuerySet[WebhookDelivery], bool]:
        """By the id of a payment through its events, whose index has it."""
        if search_term.partition("_")[0] in _PAID:
            return queryset.filter(event__payment_id=search_term), False
        found: tuple[QuerySet[WebhookDelivery], bool] = super().get_search_results(
            request, queryset, search_term
        )
        return found

    @admin.display(description="event")
    def event_type(self, row: WebhookDelivery) -> str:
        return row.event.type

    @admin.display(description="answer")
    def answer(self, row: WebhookDelivery) -> str:
        """The status code of the last try, or what kept it from having one."""
        return str(row.last_status_code or row.last_error.replace("_", " "))

    @admin.display(description="next")
    def next_at(self, row: WebhookDelivery) -> datetime | None:
        return row.next_attempt_at

    @admin.display(description="to")
    def host(self, row: WebhookDelivery) -> str:
        return urlsplit(row.endpoint.url).hostname or ""

    def get_queryset(self, request: HttpRequest) -> QuerySet[WebhookDelivery]:
        """Without the bodies of the events, which a list does not show."""
        rows: QuerySet[WebhookDelivery] = super().get_queryset(request)
        return rows.defer("event__body")

    @admin.action(description="Send again", permissions=["resend"])
    def resend(self, request: HttpRequest, rows: QuerySet[WebhookDelivery]) -> None:
        _apply(request, rows, _resend)

    def has_resend_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("webhooks.change_webhookdelivery")


@admin.register(WebhookAttempt)
class WebhookAttemptAdmin(ReadOnlyAdmin):
    list_display = ("delivery_id", "number", "status_code", "error", "duration_ms", "started_at")
    search_fields = ("delivery__id__exact",)
    search_help_text = "The id of the delivery"


@admin.register(DispatcherHeartbeat)
class DispatcherHeartbeatAdmin(ReadOnlyAdmin):
    list_display = ("name", "started_at", "beat_at")
    ordering = ("name",)
