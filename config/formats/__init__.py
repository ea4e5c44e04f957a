"""How Django formats values at the staff desk."""

from __future__ import annotations
