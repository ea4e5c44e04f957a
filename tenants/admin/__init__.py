"""The pages of Django's admin about tenants and access, one module per group of models."""

from __future__ import annotations

from tenants.admin import keys, people, records, switches, tenants

__all__ = ["keys", "people", "records", "switches", "tenants"]
