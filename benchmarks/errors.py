"""What stops a benchmark: a figure that cannot be trusted is not printed."""

from __future__ import annotations


class CannotMeasure(Exception):
    """Something needed is missing, or what ran was not what was meant to run."""
