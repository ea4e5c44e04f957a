"""Refusals about tenants, people and keys."""

from __future__ import annotations

from common.errors import Forbidden, InvalidInput, RuleViolation


class TenantSuspended(Forbidden):
    code = "tenant_suspended"
    title = "Tenant suspended"
    advice = "Contact support: nothing moves until the suspension is lifted."


class UnknownScope(InvalidInput):
    code = "unknown_scope"
    title = "Unknown scope"
    advice = "Use scopes from the list in the API reference."


class TooManyKeys(RuleViolation):
    code = "too_many_api_keys"
    title = "Too many API keys"
    advice = "Revoke a key you no longer use, then create a new one."


class InvalidKeySettings(InvalidInput):
    code = "invalid_key_settings"
    title = "Invalid API key settings"
    advice = "Give networks as CIDR, an expiry in the future, an overlap of 0–7 days."


class InvalidName(InvalidInput):
    code = "invalid_name"
    title = "Invalid name"
    advice = "Give a name of 1 to 120 visible characters on one line."
