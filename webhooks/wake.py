"""Wakes the dispatchers over Valkey pub/sub. A lost wake-up costs one poll, a second at most."""

from __future__ import annotations

import structlog
from django.conf import settings
from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from common.engine.cooldown import CoolDown

log = structlog.get_logger(__name__)

_TIMEOUT = 0.25  # seconds a dead Valkey may cost a caller, once
_SKIP_FOR = 1.0  # seconds without another try after that


def channel(url: str) -> str:
    """The channel that the dispatchers of the Valkey at `url` listen on.

    It carries the number of the database, because a server has one set of channels for all of its
    databases, and installations that share a server wake their own dispatchers only.
    """
    database = Redis.from_url(url).get_connection_kwargs().get("db", 0)
    return f"ballast:webhooks:due:{database}"


class Waker:
    """Publishes wake-ups. It never raises, and while Valkey is down it waits only once a second."""

    def __init__(self, url: str) -> None:
        self._channel = channel(url)
        self._client = Redis.from_url(
            url,
            socket_timeout=_TIMEOUT,
            socket_connect_timeout=_TIMEOUT,
            retry=Retry(NoBackoff(), 0),
        )
        self._pause = CoolDown(_SKIP_FOR)

    def wake(self) -> None:
        if not self._pause.is_over:
            return
        try:
            self._client.publish(self._channel, b"")
        except RedisError as error:
            self._pause.begin()
            log.warning("wake_up_lost", channel=self._channel, error=type(error).__name__)


_wakers: dict[str, Waker] = {}


def dispatchers() -> None:
    """Tell the dispatchers that something is due. Call it after commit."""
    url = settings.REDIS_URL
    waker = _wakers.get(url) or _wakers.setdefault(url, Waker(url))
    waker.wake()
