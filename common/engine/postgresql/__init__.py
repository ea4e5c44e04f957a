"""Django's PostgreSQL backend, faster, and with a health check that needs no round trip."""

from __future__ import annotations
