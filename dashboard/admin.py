"""Lists of the desk that need words of the dashboard."""

from __future__ import annotations

from dashboard.desk import audit

__all__ = ["audit"]
