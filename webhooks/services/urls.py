"""The rule for tenants: which URLs an endpoint may have."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address
from urllib.parse import urlsplit

from django.conf import settings

from common.engine.http import addresses, names, urls
from common.engine.http.urls import Policy, UrlRefused
from tenants.models import Mode
from webhooks.errors import InvalidWebhookUrl

_THIS_MACHINE = IPv4Address("127.0.0.1")
_NO_LOCALHOST = (
    " Only a development copy sends to localhost, the machine that it runs on: give a public https"
    " address here, such as that of a tunnel to your machine."
)
_LOCALHOST_OVER_HTTP = (
    " A sandbox tenant of this copy may also give http://localhost or http://127.0.0.1, with a port"
    " of 1024 or above that is not the copy's own."
)
_LOCALHOST_OVER_HTTPS = (
    " This copy sends to localhost as well, but here over https only: plain http is for sandbox"
    " tenants of a development copy."
)


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
        sentence = f"{refusal}{_about_localhost(url, policy, mode=mode)}"
        raise InvalidWebhookUrl(sentence, field="url") from refusal
    return CheckedUrl(url)


def _about_localhost(url: str, policy: Policy, *, mode: str) -> str:
    """What a refused URL of localhost has to be told: where one is taken."""
    if not _names_this_machine(url):
        return ""
    if not addresses.is_within(_THIS_MACHINE, policy.allowed_networks):
        return _NO_LOCALHOST
    return _LOCALHOST_OVER_HTTP if allows_http(mode) else _LOCALHOST_OVER_HTTPS


def _names_this_machine(url: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    address = addresses.parse(host)
    if address is None:
        return host == "localhost" or host.endswith(".localhost")
    return addresses.is_loopback(address)


def allows_http(mode: str) -> bool:
    """Whether a tenant of this mode may use plain http (only to networks that the operator
    allowed)."""
    return bool(settings.WEBHOOK_ALLOW_HTTP) and mode == Mode.SANDBOX
