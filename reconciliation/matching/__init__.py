"""Ties lines of bank statements to what the books expect."""

from __future__ import annotations

from reconciliation.matching.tying import tie

__all__ = ["tie"]
