"""The cache in Valkey, with a replacement for the time in which Valkey is down.

It holds the counters that slow down guessing at the sign-in. While Valkey does not answer, each
process counts for itself. That allows more tries than agreed, but people can still sign in, and
tries are never unlimited.
"""

from __future__ import annotations

import json
from typing import Any

import structlog
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis import RedisError

from common.engine.cooldown import CoolDown

log = structlog.get_logger(__name__)

_RETRY_AFTER = 1.0  # seconds


class JsonSerializer:
    """JSON instead of Django's pickle: whoever can write to Valkey must not run code here."""

    def dumps(self, value: Any) -> Any:
        """Integers stay plain, so that Valkey can count with them."""
        return value if type(value) is int else json.dumps(value)

    def loads(self, data: bytes) -> Any:
        return json.loads(data)


class ResilientCache(RedisCache):
    """Django's Redis cache, which does not raise when Valkey is down."""

    def __init__(self, server: Any, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._stand_in = LocMemCache("stand-in", params)
        self._cool_down = CoolDown(_RETRY_AFTER)

    def add(self, *args: Any, **kwargs: Any) -> bool:
        return bool(self._ask("add", *args, **kwargs))

    def get(self, *args: Any, **kwargs: Any) -> Any:
        return self._ask("get", *args, **kwargs)

    def get_many(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        return dict(self._ask("get_many", *args, **kwargs))

    def set(self, *args: Any, **kwargs: Any) -> None:
        self._ask("set", *args, **kwargs)

    def touch(self, *args: Any, **kwargs: Any) -> bool:
        return bool(self._ask("touch", *args, **kwargs))

    def delete(self, *args: Any, **kwargs: Any) -> bool:
        return bool(self._ask("delete", *args, **kwargs))

    def incr(self, *args: Any, **kwargs: Any) -> int:
        return int(self._ask("incr", *args, **kwargs))

    def _ask(self, method: str, *args: Any, **kwargs: Any) -> Any:
        if self._cool_down.is_over:
            try:
                return getattr(super(), method)(*args, **kwargs)
            except RedisError as error:
                self._cool_down.begin()
                log.warning("cache_local", error=type(error).__name__)
        return getattr(self._stand_in, method)(*args, **kwargs)
