"""Refusals about webhooks."""

from __future__ import annotations

from common.errors import Conflict, InvalidInput, RuleViolation, Unavailable


class InvalidWebhookUrl(InvalidInput):
    code = "invalid_webhook_url"
    title = "This URL cannot receive webhooks"
    advice = (
        "Give an https URL on port 443 or 1024 and above, without user name and fragment, whose "
        "name resolves to public addresses only."
    )


class InvalidWebhookEvents(InvalidInput):
    code = "invalid_webhook_events"
    title = "Invalid list of events"
    advice = 'List event names from the reference, each once, or send ["*"].'


class InvalidSecretOverlap(InvalidInput):
    code = "invalid_secret_overlap"
    is_public = False
    title = "Invalid overlap"
    advice = "Let the old secret sign for 0 to 604800 seconds (7 days) longer."


class SecretsOverlap(Conflict):
    code = "webhook_secrets_overlap"
    title = "An older secret still signs"
    advice = (
        "Wait until `previousSecretExpiresAt`, or send `overlapSeconds: 0`, which ends both older"
        " secrets at once."
    )


class InvalidReplayWindow(InvalidInput):
    code = "invalid_replay_window"
    title = "Invalid window"
    advice = "Give `from` before `to`, both within the last 30 days."


class TooManyWebhooks(RuleViolation):
    code = "too_many_webhooks"
    title = "Too many webhook endpoints"
    advice = "Remove an endpoint you no longer use, or add events to an existing one."


class WebhookTestRunning(Conflict):
    code = "webhook_test_running"
    is_passing = True
    title = "A test call is running"
    advice = "Wait until the test call of this tenant has ended (at most 20 seconds)."


class WebhookDisabled(Conflict):
    code = "webhook_disabled"
    title = "The webhook endpoint is off"
    advice = "Switch it on first: PATCH it with `status: enabled`."


class WebhooksStopped(Unavailable):
    code = "webhooks_stopped"
    title = "Webhooks are stopped"
    advice = "Our operators stopped sending. Events are kept and sent later; test again then."
