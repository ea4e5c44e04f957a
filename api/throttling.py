"""Rate limits: an atomic token bucket per API key, one for reads and one for writes.

The bucket is in Valkey, whose clock counts. While Valkey is down each process applies the limit by
itself: looser than agreed, but never unlimited.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import structlog
from django.conf import settings
from redis import ConnectionPool, RedisError
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError
from redis.retry import Retry
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from api import errors
from common.engine.cooldown import CoolDown
from tenants.selectors import KeyHolder

if TYPE_CHECKING:  # DRF imports this module while it builds its own views
    from rest_framework.views import APIView

    from api.authentication import ApiCaller

log = structlog.get_logger(__name__)

BURST_FACTOR = 2
# Rates are whole requests a second, so a second always brings at least one token.
RESET_SECONDS = 1
VALKEY_TIMEOUT_SECONDS = 0.25
VALKEY_PAUSE_SECONDS = 1  # until Valkey is tried again
LOCAL_BUCKETS_MAX = 10_000

# KEYS[1] bucket; ARGV: rate per second, burst. Returns {allowed, tokens left × 1000}.
_TAKE = """
local clock = redis.call('TIME')
local now = tonumber(clock[1]) + tonumber(clock[2]) / 1000000
local rate, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = tonumber(bucket[1]) or burst
local at = tonumber(bucket[2]) or now
tokens = math.min(burst, tokens + math.max(0, now - at) * rate)
local allowed = 0
if tokens >= 1 then tokens = tokens - 1; allowed = 1 end
redis.call('HSET', KEYS[1], 'tokens', tokens, 'at', now)
redis.call('EXPIRE', KEYS[1], math.ceil(burst / rate) + 1)
return {allowed, math.floor(tokens * 1000)}
"""
_TAKE_DIGEST = hashlib.sha1(
    _TAKE.encode(), usedforsecurity=False
).hexdigest()  # Valkey's name of it


@dataclass(frozen=True)
class Verdict:
    """The outcome of taking one token."""

    policy: str
    rate: int
    allowed: bool
    tokens: float

    @property
    def headers(self) -> dict[str, str]:
        """The RateLimit header fields (IETF draft httpapi-ratelimit-headers)."""
        burst = self.rate * BURST_FACTOR
        return {
            "RateLimit-Policy": f'"{self.policy}";q={burst};w={BURST_FACTOR}',
            "RateLimit": f'"{self.policy}";r={int(self.tokens)};t={RESET_SECONDS}',
        }


class Buckets:
    """The shared buckets in Valkey, and local ones for when Valkey is down.

    A call waits `timeout` seconds for Valkey at most. After a failure Valkey is left alone for
    `pause` seconds, and of the local buckets `local_max` are kept.
    """

    def __init__(
        self,
        *,
        timeout: float = VALKEY_TIMEOUT_SECONDS,
        pause: float = VALKEY_PAUSE_SECONDS,
        local_max: int = LOCAL_BUCKETS_MAX,
    ) -> None:
        self._timeout = timeout
        self._local = _LocalBuckets(local_max)
        self._valkey_down = CoolDown(seconds=pause)
        self._valkey: _Valkey | None = None

    def take(self, name: str, rate: int) -> tuple[bool, float]:
        """Take one token of the bucket `name`, which gets `rate` a second; returns whether there
        was one, and how many are left."""
        if self._valkey_down.is_over:
            try:
                return self._take_shared(name, rate)
            except RedisError as error:
                self._valkey_down.begin()
                log.warning("rate_limit_local", error=type(error).__name__)
        return self._local.take(name, rate)

    def _take_shared(self, name: str, rate: int) -> tuple[bool, float]:
        if self._valkey is None:
            self._valkey = _Valkey(settings.REDIS_URL, self._timeout)
        arguments = (1, name, rate, rate * BURST_FACTOR)
        try:
            allowed, thousandths = self._valkey.ask("EVALSHA", _TAKE_DIGEST, *arguments)
        except NoScriptError:
            allowed, thousandths = self._valkey.ask("EVAL", _TAKE, *arguments)
        return bool(allowed), thousandths / 1000


class _Valkey(threading.local):
    """A connection that each thread keeps: redis-py's client and pool cost more than a command.

    Fails fast: a request must not wait for Valkey.
    """

    def __init__(self, url: str, timeout: float) -> None:
        pool = ConnectionPool.from_url(
            url,
            socket_timeout=timeout,
            socket_connect_timeout=timeout,
            retry=Retry(NoBackoff(), 0),
        )
        self._connection: Any = pool.make_connection()  # redis-py's are half typed

    def ask(self, *command: str | int) -> Any:
        """Run `command`, once more on a new connection if Valkey has closed the kept one. Raises
        RedisError."""
        try:
            return self._answer(command)
        except RedisConnectionError:
            return self._answer(command)

    def _answer(self, command: tuple[str | int, ...]) -> Any:
        self._connection.send_command(*command)
        return self._connection.read_response()


class _LocalBuckets:
    """Token buckets of this process; the least recently used ones are dropped."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str, rate: int) -> tuple[bool, float]:
        burst = float(rate * BURST_FACTOR)
        with self._lock:
            now = time.monotonic()
            tokens, at = self._buckets.pop(name, (burst, now))
            tokens = min(burst, tokens + (now - at) * rate)
            allowed = tokens >= 1
            self._buckets[name] = (tokens - allowed, now)
            if len(self._buckets) > self._most:
                self._buckets.popitem(last=False)
        return allowed, tokens - allowed


class KeyRateThrottle(BaseThrottle):
    """Takes a token of the calling key's bucket. Raises RateLimited when there is none."""

    buckets = Buckets()

    def allow_request(self, request: Request, view: APIView) -> bool:
        caller = cast("ApiCaller", request.auth)
        verdict = self._take(caller.holder, writes=request.method not in {"GET", "HEAD"})
        request.rate_limit = verdict  # type: ignore[attr-defined]  # ApiViewSet adds the headers
        if not verdict.allowed:
            raise errors.RateLimited(
                f"More than {verdict.rate} {verdict.policy} a second.",
                headers={"Retry-After": str(RESET_SECONDS)},
            )
        return True

    def _take(self, holder: KeyHolder, *, writes: bool) -> Verdict:
        policy = "writes" if writes else "reads"
        own = holder.writes_per_second if writes else holder.reads_per_second
        default = settings.API_WRITES_PER_SECOND if writes else settings.API_READS_PER_SECOND
        rate = own or default
        allowed, tokens = self.buckets.take(f"ballast:rate:{holder.key_id}:{policy}", rate)
        return Verdict(policy=policy, rate=rate, allowed=allowed, tokens=tokens)
