"""The webhook part of the public API."""

from __future__ import annotations
