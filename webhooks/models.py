"""Endpoints say where tenants want their events, events are the outbox. Deliveries are the queue
and hold the present state; attempts are the history."""

from __future__ import annotations

from urllib.parse import urlsplit

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import Q

from common import days
from common.database.append_only import NEVER_TRUNCATED
from common.database.rights import Rights
from common.fields import PrefixedIdField
from common.leases import Leased
from webhooks.states import DELIVERY_STATES, ENDPOINT_STATES, DeliveryStatus, EndpointStatus

ENDPOINTS_PER_TENANT_MAX = 20
URL_LENGTH_MAX = 2048
DESCRIPTION_LENGTH_MAX = 140


class DisabledReason(models.TextChoices):
    """Why an endpoint is off. `gone`: it answered 410. `failing`: nothing succeeded for
    five days."""

    NONE = "", "–"
    TENANT = "tenant"
    STAFF = "staff"
    GONE = "gone"
    FAILING = "failing"


class WebhookEndpoint(models.Model):
    """A URL of the tenant that receives events. Its secrets are kept encrypted."""

    id = PrefixedIdField("wh")
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, db_index=False)
    url = models.CharField("URL", max_length=URL_LENGTH_MAX)
    events = ArrayField(models.CharField(max_length=32))
    description = models.CharField(max_length=DESCRIPTION_LENGTH_MAX, blank=True)
    status = models.CharField(
        max_length=8, choices=EndpointStatus, default=EndpointStatus.ENABLED, editable=False
    )
    disabled_reason = models.CharField(
        max_length=8, choices=DisabledReason, default=DisabledReason.NONE, blank=True
    )
    secret_token = models.TextField(editable=False)
    previous_secret_token = models.TextField(blank=True, editable=False)
    previous_secret_expires_at = models.DateTimeField(null=True, blank=True)
    consecutive_failures = models.PositiveIntegerField(default=0)
    first_failure_at = models.DateTimeField(
        null=True, blank=True, help_text="the first failure since the last success"
    )
    last_success_at = models.DateTimeField(null=True, blank=True)
    warnings_sent = models.PositiveSmallIntegerField(default=0)
    paused_until = models.DateTimeField(
        null=True, blank=True, help_text="a failing endpoint gets one probe at a time, with pauses"
    )
    testing_until = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(status__in=EndpointStatus.values), name="endpoint_status_known"
            ),
            models.CheckConstraint(
                condition=Q(status="disabled") ^ Q(disabled_reason=""),
                name="endpoint_disabled_iff_reason",
            ),
            models.CheckConstraint(
                condition=Q(status="removed", removed_at__isnull=False)
                | (~Q(status="removed") & Q(removed_at=None)),
                name="endpoint_removed_iff_dated",
            ),
            models.CheckConstraint(
                condition=Q(previous_secret_token="", previous_secret_expires_at=None)
                | (~Q(previous_secret_token="") & Q(previous_secret_expires_at__isnull=False)),
                name="endpoint_previous_secret_expires",
            ),
            models.CheckConstraint(condition=Q(events__len__gt=0), name="endpoint_has_events"),
            # What deliveries refer to.
            models.UniqueConstraint(fields=("id", "tenant"), name="endpoint_of_tenant"),
        )
        indexes = (
            models.Index(fields=("tenant", "-created_at", "-id"), name="endpoint_by_tenant"),
            models.Index(
                fields=("first_failure_at",),
                name="endpoint_failing",
                condition=Q(status="enabled", first_failure_at__isnull=False),
            ),
        )
        triggers = (ENDPOINT_STATES.trigger("endpoint_moves"),)

    def __str__(self) -> str:
        return f"endpoint at {urlsplit(self.url).hostname}"

    @property
    def url_without_query(self) -> str:
        """As the audit log and mails have it: a query may hold the receiver's own key."""
        return self.url.partition("?")[0]

    @property
    def encryption_context(self) -> str:
        """Binds the secret tokens to this row."""
        return secret_context(self.pk)


def secret_context(endpoint_id: str) -> str:
    """The encryption context of the endpoint's secrets."""
    return f"webhook_endpoint.secret:{endpoint_id}"


@pgtrigger.register(NEVER_TRUNCATED)
@pgtrigger.register(pgtrigger.Protect(name="frozen", operation=pgtrigger.Update))
class WebhookEvent(models.Model):
    """Something that happened, as the bytes every receiver gets. Kept 30 days, never changed."""

    id = PrefixedIdField("evt")
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, db_index=False)
    type = models.CharField(max_length=32)
    payment_id = models.CharField(max_length=32, blank=True, db_collation="C")
    sequence = models.PositiveIntegerField(default=0, help_text="counts up per payment")
    body = models.BinaryField()
    receivers = ArrayField(
        models.CharField(max_length=32),
        null=True,
        help_text="ids of the endpoints that subscribed to it then; empty before this was kept",
    )
    created_at = models.DateTimeField()

    app_rights = Rights(update=("id",), delete=True)  # retention locks what it deletes

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("payment_id", "sequence"),
                condition=~Q(payment_id=""),
                name="one_event_per_transition",
            ),
        )
        indexes = (
            models.Index(fields=("tenant", "-created_at", "-id"), name="event_by_tenant"),
            models.Index(fields=("created_at",), name="event_age"),
        )

    def __str__(self) -> str:
        event = self.type.replace(".", " ").replace("_", " ")
        return f"{event}, {days.when(self.created_at)}"


class WebhookDelivery(Leased):
    """One event for one endpoint. `pending` rows are the queue.

    A claim changes no indexed column (decision 0088): a row stays due while it is leased, and can
    be claimed again when its lease ends. `is_parked`: a claim put it off behind an earlier event of
    its payment, until that one is over or the time in `next_attempt_at` has come. `attempts` counts
    every try, `failures` those of this round. A round starts with the event, a resend or a replay
    (`queued_at`).
    """

    id = PrefixedIdField("dlv")
    # The database refers to tenant and endpoint at once (`delivery_goes_to_own_endpoint`): the
    # endpoint is of this tenant.
    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.PROTECT, db_index=False, db_constraint=False
    )
    event = models.ForeignKey(
        WebhookEvent, on_delete=models.PROTECT, related_name="deliveries", db_index=False
    )
    endpoint = models.ForeignKey(
        WebhookEndpoint,
        on_delete=models.PROTECT,
        related_name="deliveries",
        db_index=False,
        db_constraint=False,
    )
    status = models.CharField(max_length=9, choices=DeliveryStatus, editable=False)
    payment_id = models.CharField(max_length=32, blank=True, db_collation="C")
    sequence = models.PositiveIntegerField(default=0)
    is_manual = models.BooleanField(default=False, help_text="somebody asked for it again")
    is_parked = models.BooleanField(
        default=False,
        db_default=False,
        help_text="waits for the end of an earlier event of its payment",
    )
    failures = models.PositiveSmallIntegerField(default=0)
    last_status_code = models.PositiveSmallIntegerField(null=True, blank=True)
    last_error = models.CharField(max_length=32, blank=True)
    queued_at = models.DateTimeField()
    delivered_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()

    QUEUED = Q(status=DeliveryStatus.PENDING)

    app_rights = Rights(delete=True)

    class Meta:
        verbose_name_plural = "webhook deliveries"
        constraints = (
            models.CheckConstraint(
                condition=Q(status__in=DeliveryStatus.values), name="delivery_status_known"
            ),
            models.CheckConstraint(
                condition=Q(status="pending", next_attempt_at__isnull=False)
                | (~Q(status="pending") & Q(next_attempt_at=None, leased_until=None)),
                name="delivery_pending_iff_due",
            ),
            models.UniqueConstraint(
                fields=("event", "endpoint"), name="one_delivery_per_event_and_endpoint"
            ),
        )
        indexes = (
            models.Index(
                fields=("endpoint", "next_attempt_at", "id"),
                name="delivery_due",
                condition=Q(status="pending"),
            ),
            models.Index(
                fields=("endpoint", "payment_id", "sequence"),
                name="delivery_order",
                condition=Q(status="pending") & ~Q(payment_id=""),
            ),
            models.Index(fields=("endpoint", "-created_at", "-id"), name="delivery_by_endpoint"),
        )
        triggers = (DELIVERY_STATES.trigger("delivery_moves"),)

    def __str__(self) -> str:
        status = DeliveryStatus(self.status).label.lower()
        return f"delivery {status}, {days.when(self.created_at)}"


@pgtrigger.register(NEVER_TRUNCATED)
@pgtrigger.register(pgtrigger.Protect(name="append_only", operation=pgtrigger.Update))
class WebhookAttempt(models.Model):
    """One HTTP request and its answer. Append-only; leaves with its event."""

    id = models.BigAutoField(primary_key=True)
    delivery = models.ForeignKey(
        WebhookDelivery, on_delete=models.PROTECT, related_name="attempt_log", db_index=False
    )
    number = models.PositiveIntegerField()
    status_code = models.PositiveSmallIntegerField(null=True, blank=True)
    error = models.CharField(max_length=32, blank=True)
    response = models.TextField(blank=True, help_text="the first 1 KiB of the answer")
    response_headers = models.JSONField(
        default=list, db_default=[], help_text="pairs of name and value"
    )
    duration_ms = models.PositiveIntegerField()
    started_at = models.DateTimeField()

    app_rights = Rights(update=False, delete=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("delivery", "number"), name="one_row_per_attempt"),
        )
        indexes = (BrinIndex(fields=("started_at",), name="attempt_age"),)

    def __str__(self) -> str:
        answer = f"answered {self.status_code}" if self.status_code else "no answer"
        return f"try {self.number}, {answer}, {days.when(self.started_at)}"


class DispatcherHeartbeat(models.Model):
    """A running dispatcher. In PostgreSQL, because Valkey may be flushed at any moment."""

    name = models.CharField(max_length=128, primary_key=True)
    started_at = models.DateTimeField()
    beat_at = models.DateTimeField()

    app_rights = Rights(delete=True)

    def __str__(self) -> str:
        return self.name
