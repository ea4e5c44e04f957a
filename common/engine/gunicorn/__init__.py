"""gunicorn's threaded worker with bounds on every wait for a client (decision 0080)."""

from __future__ import annotations
