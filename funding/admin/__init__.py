"""The staff desk's view of funding, one module per family."""

from __future__ import annotations

from funding.admin import sources

__all__ = ["sources"]
