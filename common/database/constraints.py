"""The name of the constraint that refused a row."""

from __future__ import annotations

from django.db import IntegrityError


def violated(error: IntegrityError) -> str | None:
    """The name of the constraint that was violated; None if the error is about something else."""
    return getattr(getattr(error.__cause__, "diag", None), "constraint_name", None)
