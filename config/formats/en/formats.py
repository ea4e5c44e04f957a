"""Dates in the same form as in the dashboard (`moment`)."""

from __future__ import annotations

DATE_FORMAT = "M j, Y"
DATETIME_FORMAT = "M j, Y, g:i A T"
