"""The staff desk's view of tenants and access, one module per family."""

from __future__ import annotations

from tenants.admin import keys, people, records, switches, tenants

__all__ = ["keys", "people", "records", "switches", "tenants"]
