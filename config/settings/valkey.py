"""Valkey or Redis: wake-ups, rate limits, cache. Never the record of anything."""

from __future__ import annotations

from config import safety
from config.env import flag, text

REDIS_URL = text("REDIS_URL", default="redis://localhost:6379/0")
if not flag("ALLOW_PLAINTEXT_VALKEY", default=False):
    safety.require_tls_to_valkey(REDIS_URL)
CACHES = {
    "default": {
        "BACKEND": "common.engine.cache.ResilientCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "ballast",
        "OPTIONS": {
            "serializer": "common.engine.cache.JsonSerializer",
            "socket_timeout": 1,
            "socket_connect_timeout": 1,
        },
    }
}
