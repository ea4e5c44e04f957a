"""Django's PostgreSQL backend with a health check that costs no round trip."""

from __future__ import annotations
