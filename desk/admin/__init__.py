"""Lists of the admin that need words which only the desk has."""

from __future__ import annotations

from desk.admin import audit_log, entries

__all__ = ["audit_log", "entries"]
