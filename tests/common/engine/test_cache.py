from __future__ import annotations

import pickle

import pytest
from django.conf import settings
from django.core.cache import cache
from django.core.cache.backends.locmem import LocMemCache
from redis import Redis, RedisError

from common.engine.cache import JsonSerializer, ResilientCache


@pytest.fixture
def orphan():
    """A cache whose Valkey is not there."""
    cache = ResilientCache("unix:///nowhere/valkey.sock", {"OPTIONS": {"socket_timeout": 0.1}})
    cache._stand_in.clear()
    return cache


class TestCacheWithoutValkey:
    def test_still_counts(self, orphan):
        assert orphan.add("tries", 0, timeout=60)
        assert not orphan.add("tries", 0, timeout=60)

        assert [orphan.incr("tries") for _ in range(3)] == [1, 2, 3]

    def test_still_keeps_and_forgets(self, orphan):
        orphan.set("name", [1.5], 60)

        assert orphan.get("name") == [1.5]
        assert orphan.touch("name", 60)
        assert orphan.delete("name")
        assert orphan.get("name", []) == []

    def test_says_that_a_counter_is_gone_as_valkey_would(self, orphan):
        with pytest.raises(ValueError, match="not found"):
            orphan.incr("nothing")

    def test_does_not_try_valkey_again_at_once(self, orphan, monkeypatch):
        tries = []

        def fail(*_arguments: object) -> None:
            tries.append(1)
            raise RedisError

        monkeypatch.setattr("django.core.cache.backends.redis.RedisCache.get", fail)

        orphan.get("a")
        orphan.get("b")

        assert len(tries) == 1


class TestCacheWithValkey:
    def test_is_shared(self, settings):
        first = ResilientCache(settings.REDIS_URL, {})
        second = ResilientCache(settings.REDIS_URL, {})

        first.set("shared", 1, 60)

        assert second.get("shared") == 1
        assert not isinstance(first, LocMemCache)
        first.delete("shared")


class TestSerializer:
    @pytest.mark.parametrize("value", [0, -7, True, False, None, "text", [1.5, 2], {"a": [1]}])
    def test_brings_values_back_as_they_were(self, value):
        serializer = JsonSerializer()

        stored = serializer.dumps(value)
        as_valkey_has_it = str(stored).encode() if isinstance(stored, int) else stored.encode()
        found = serializer.loads(as_valkey_has_it)

        assert found == value
        assert type(found) is type(value)

    def test_never_runs_what_it_reads(self):
        with pytest.raises(ValueError):  # noqa: PT011  # JSON or Unicode, as the bytes fall
            JsonSerializer().loads(pickle.dumps([1]))

    def test_is_the_one_in_use(self):
        cache.set("json", [1.5, "é"])

        assert cache.get("json") == [1.5, "é"]
        assert Redis.from_url(settings.REDIS_URL).get("ballast:1:json") == b'[1.5, "\\u00e9"]'
