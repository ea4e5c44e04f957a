"""Pages for the people who build on the API."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from dashboard.developers import views as developers
from dashboard.developers.api_keys import views as api_keys
from dashboard.developers.requests import views as requests
from dashboard.developers.webhooks import change_views as webhook_changes
from dashboard.developers.webhooks import event_views as events
from dashboard.developers.webhooks import sending_views as webhook_sending
from dashboard.developers.webhooks import views as webhooks

developer_pages: list[URLPattern | URLResolver] = [
    path("developers", developers.developers, name="developers"),
    path("api-keys", api_keys.api_keys, name="api_keys"),
    path("api-keys/new", api_keys.issue, name="api_key_issue"),
    path("api-keys/<str:key_id>/rotate", api_keys.rotate, name="api_key_rotate"),
    path("api-keys/<str:key_id>/auto-funding", api_keys.loosening, name="api_key_loosening"),
    path("api-keys/<str:key_id>/revoke", api_keys.revoke, name="api_key_revoke"),
    path("webhooks", webhooks.webhooks, name="webhooks"),
    path("webhooks/new", webhook_changes.register, name="webhook_register"),
    path("webhooks/<str:endpoint_id>", webhooks.endpoint, name="webhook"),
    path("webhooks/<str:endpoint_id>/edit", webhook_changes.edit, name="webhook_edit"),
    path("webhooks/<str:endpoint_id>/secret", webhook_changes.rotate, name="webhook_rotate"),
    path("webhooks/<str:endpoint_id>/switch", webhook_changes.switch, name="webhook_switch"),
    path("webhooks/<str:endpoint_id>/remove", webhook_changes.remove, name="webhook_remove"),
    path("webhooks/<str:endpoint_id>/test", webhook_sending.test, name="webhook_test"),
    path("webhooks/<str:endpoint_id>/replay", webhook_sending.replay, name="webhook_replay"),
    path("deliveries/<str:delivery_id>", webhooks.delivery, name="delivery"),
    path("deliveries/<str:delivery_id>/resend", webhook_sending.resend, name="delivery_resend"),
    path("events", events.events, name="events"),
    path("events/<str:event_id>", events.event, name="event"),
    path("requests", requests.requests, name="requests"),
    path("requests/<str:request_pk>", requests.request_detail, name="request"),
]
