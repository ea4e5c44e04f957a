"""The pages of Django's admin about tenants and access, one module per group of models."""

from __future__ import annotations

from tenants.admin import access, keys, people, records, switches, tenants

__all__ = ["access", "keys", "people", "records", "switches", "tenants"]
