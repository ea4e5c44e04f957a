"""The pages of Django's admin about payments."""

from __future__ import annotations

from payments.admin import approvals, payments

__all__ = ["approvals", "payments"]
