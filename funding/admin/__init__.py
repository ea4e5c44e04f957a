"""The pages of Django's admin about funding, one module per group of models."""

from __future__ import annotations

from funding.admin import auto_funding, sources, transactions

__all__ = ["auto_funding", "sources", "transactions"]
