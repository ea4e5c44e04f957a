"""gunicorn's threaded worker which waits for no client in a thread (decisions 0080, 0165)."""

from __future__ import annotations
