"""Money out at the staff desk."""

from __future__ import annotations

from payments.admin import approvals, payments

__all__ = ["approvals", "payments"]
