"""The pages of Django's admin about funding, one module per group of models."""

from __future__ import annotations

from funding.admin import authorizations, auto_funding, sources, transactions

__all__ = ["authorizations", "auto_funding", "sources", "transactions"]
