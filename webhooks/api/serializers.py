"""Bodies in and out of the webhook endpoints."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.fields import (
    InstantField,
    StrictBooleanField,
    StrictChoiceField,
    StrictIntegerField,
    TextField,
)
from api.serializers import StrictSerializer
from common.engine.http import urls
from webhooks import events
from webhooks.models import DESCRIPTION_LENGTH_MAX, URL_LENGTH_MAX, DisabledReason
from webhooks.services.endpoints import OVERLAP_DEFAULT, OVERLAP_MAX
from webhooks.states import DeliveryStatus, EndpointStatus

_SECONDS_MAX = int(OVERLAP_MAX.total_seconds())


class UrlField(TextField):
    """`webhooks.services.urls` has the last word."""

    schema: ClassVar = {"pattern": urls.PATTERN}


def _url(**options: Any) -> UrlField:
    return UrlField(trim_whitespace=False, max_length=URL_LENGTH_MAX, **options)


@extend_schema_field(
    {
        "anyOf": [
            {
                "type": "array",
                "items": {"type": "string", "enum": list(events.ALL)},
                "minItems": 1,
                "uniqueItems": True,
            },
            {
                "type": "array",
                "items": {"type": "string", "const": events.EVERY_PAYMENT},
                "minItems": 1,
                "maxItems": 1,
            },
        ]
    }
)
class EventNamesField(serializers.ListField):
    """Names of events; the service refuses repeats and company for `*`."""


def _events(**options: Any) -> EventNamesField:
    return EventNamesField(
        child=StrictChoiceField([*events.ALL, events.EVERY_PAYMENT]),
        max_length=len(events.ALL),
        allow_empty=False,
        help_text='Event names, each once, or `["*"]` for every payment event.',
        **options,
    )


def _description(**options: Any) -> TextField:
    return TextField(max_length=DESCRIPTION_LENGTH_MAX, allow_blank=True, **options)


class NothingIn(StrictSerializer):
    """A body that has nothing to say."""


class WebhookIn(StrictSerializer):
    url = _url()
    events = _events()
    description = _description(default="")


class WebhookChangesIn(StrictSerializer):
    url = _url(required=False)
    events = _events(required=False)
    description = _description(required=False)
    status = StrictChoiceField([EndpointStatus.ENABLED, EndpointStatus.DISABLED], required=False)


class RotateSecretIn(StrictSerializer):
    overlapSeconds = StrictIntegerField(
        source="overlap",
        min_value=0,
        max_value=_SECONDS_MAX,
        default=int(OVERLAP_DEFAULT.total_seconds()),
        help_text="How long the old secret signs as well.",
    )


class ReplayIn(StrictSerializer):
    """`from` is a keyword in Python, so the fields are named in a dictionary."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {
            "from": InstantField(source="start", help_text="Inclusive; at most 30 days ago."),
            "to": InstantField(source="end", help_text="Exclusive."),
            "onlyFailed": StrictBooleanField(
                source="only_failed", default=True, help_text="Leave out what was delivered."
            ),
        }


class WebhookOut(serializers.Serializer[Any]):
    id = serializers.CharField()
    url = serializers.CharField()
    events = serializers.ListField(child=serializers.CharField())
    status = serializers.ChoiceField(choices=EndpointStatus.choices)
    disabledReason = serializers.ChoiceField(
        choices=[choice for choice in DisabledReason.choices if choice[0]], allow_null=True
    )
    description = serializers.CharField(allow_null=True)
    consecutiveFailures = serializers.IntegerField()
    failingSince = serializers.DateTimeField(allow_null=True)
    lastSuccessAt = serializers.DateTimeField(allow_null=True)
    previousSecretExpiresAt = serializers.DateTimeField(allow_null=True)
    createdAt = serializers.DateTimeField()
    updatedAt = serializers.DateTimeField()


class WebhookWithSecretOut(WebhookOut):
    secret = serializers.CharField(
        allow_null=True,
        help_text="Shown here and never again: null when the request is repeated with its"
        " Idempotency-Key.",
    )


class RemovedWebhookOut(serializers.Serializer[Any]):
    id = serializers.CharField()
    status = serializers.ChoiceField(choices=EndpointStatus.choices)
    removedAt = serializers.DateTimeField()


class WebhookTestOut(serializers.Serializer[Any]):
    eventId = serializers.CharField()
    success = serializers.BooleanField()
    statusCode = serializers.IntegerField(allow_null=True)
    error = serializers.CharField(allow_null=True)
    durationMs = serializers.IntegerField()
    response = serializers.CharField(help_text="The first 1 KiB of the answer.")


class ReplayOut(serializers.Serializer[Any]):
    queued = serializers.IntegerField()
    resumeFrom = serializers.DateTimeField(
        allow_null=True, help_text="`from` of the next call, when the window held too much for one."
    )


class WebhookDeliveryOut(serializers.Serializer[Any]):
    id = serializers.CharField()
    webhookId = serializers.CharField()
    eventId = serializers.CharField()
    type = serializers.CharField()
    paymentId = serializers.CharField(allow_null=True)
    status = serializers.ChoiceField(choices=DeliveryStatus.choices)
    attempts = serializers.IntegerField()
    lastStatusCode = serializers.IntegerField(allow_null=True)
    lastError = serializers.CharField(allow_null=True)
    nextAttemptAt = serializers.DateTimeField(
        allow_null=True,
        help_text="When it is due. While our operators have stopped sending it stays due and is not"
        " sent; a test call says so (`webhooks_stopped`).",
    )
    deliveredAt = serializers.DateTimeField(allow_null=True)
    createdAt = serializers.DateTimeField()


class AttemptOut(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    statusCode = serializers.IntegerField(allow_null=True)
    error = serializers.CharField(allow_null=True)
    durationMs = serializers.IntegerField()
    response = serializers.CharField()
    startedAt = serializers.DateTimeField()


class WebhookDeliveryDetailOut(WebhookDeliveryOut):
    attemptLog = AttemptOut(many=True)


class EventOut(serializers.Serializer[Any]):
    id = serializers.CharField()
    type = serializers.ChoiceField(choices=events.ALL)
    data = serializers.DictField()  # type: ignore[assignment]  # named like a property of DRF
    timestamp = serializers.DateTimeField()
