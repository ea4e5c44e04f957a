"""Views of the desk, one module per subject."""

from __future__ import annotations
