"""The rule for tenants: which URLs an endpoint may have."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

from common.engine.http import names, urls
from common.engine.http.urls import UrlRefused
from tenants.models import Mode
from webhooks.errors import InvalidWebhookUrl


@dataclass(frozen=True)
class CheckedUrl:
    """A URL that passed the rule. Services accept no other."""

    text: str


def check(url: str, *, mode: str) -> CheckedUrl:
    """Check `url` for a tenant of this mode, with the addresses its name has today.

    Raises InvalidWebhookUrl. Looks up names, which may take 2 s: hold no transaction.
    """
    policy = urls.policy()
    try:
        target = policy.check(url, allow_http=allows_http(mode))
        names.check_now(target, policy)
    except UrlRefused as refusal:
        raise InvalidWebhookUrl(str(refusal), field="url") from refusal
    return CheckedUrl(url)


def allows_http(mode: str) -> bool:
    """Whether a tenant of this mode may use plain http (only to networks that the operator
    allowed)."""
    return bool(settings.WEBHOOK_ALLOW_HTTP) and mode == Mode.SANDBOX
