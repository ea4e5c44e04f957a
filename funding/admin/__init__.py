"""The staff desk's view of funding, one module per family."""

from __future__ import annotations

from funding.admin import auto_funding, sources, transactions

__all__ = ["auto_funding", "sources", "transactions"]
