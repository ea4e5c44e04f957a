"""Rate limits: a token bucket per key on Valkey, a local one while Valkey is away."""

from __future__ import annotations

import time
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from redis import Redis

from api.throttling import Buckets
from tenants.models import ApiKey
from tests.api.machinery import NOTES, WITHOUT_VALKEY
from tests.api.test_conventions_errors import problem
from tests.builders import ApiClient, make_key
from tests.races.together import together

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("machinery")]


@pytest.fixture
def bucket():
    """A limiter that has not met Valkey yet."""
    return Buckets()


@pytest.fixture
def named(settings):
    """The connections of the limiter have a name of their own in Valkey."""
    name = f"limiter-{time.monotonic_ns()}"
    settings.REDIS_URL += f"{'&' if '?' in settings.REDIS_URL else '?'}client_name={name}"
    return name


def stop_the_clock(name) -> None:
    """The next call finds that no time has passed, however long it took to come."""
    Redis.from_url(settings.REDIS_URL).hincrbyfloat(name, "at", 3600)


def close_connections_of(client_name) -> int:
    """Let Valkey close them, as it does when it restarts; returns how many there were."""
    valkey = Redis.from_url(settings.REDIS_URL.partition("client_name=")[0].rstrip("?&"))
    found = [client for client in valkey.client_list() if client["name"] == client_name]
    return sum(valkey.client_kill_filter(_id=client["id"]) for client in found)


def passed(answers) -> int:
    return sum(answer is True for answer in answers)


class TestBucket:
    def test_passes_exactly_its_burst_of_200_calls_at_once(self):
        # 200 new connections at once take longer than a request would wait for one.
        bucket = Buckets(timeout=30)
        started = time.monotonic()
        answers = together(lambda _worker: bucket.take("burst", 1)[0], workers=200)
        refilled = int(time.monotonic() - started)

        assert 2 <= passed(answers) <= 2 + refilled

    def test_refills_by_its_rate(self, bucket, settings):
        name, started = "refill", time.monotonic()
        assert [bucket.take(name, 10)[0] for _ in range(20)] == [True] * 20
        bucket.take(name, 10)
        valkey = Redis.from_url(settings.REDIS_URL)
        valkey.hincrbyfloat(name, "at", -0.5)  # half a second ago

        taken = passed(bucket.take(name, 10)[0] for _ in range(20))
        assert 5 <= taken <= 6 + 10 * (time.monotonic() - started)

    def test_is_forgotten_when_full_again(self, bucket, settings):
        bucket.take("forgotten", 10)

        assert Redis.from_url(settings.REDIS_URL).ttl("forgotten") in {2, 3}

    def test_does_not_mind_a_clock_that_goes_back(self, bucket, settings):
        bucket.take("clock", 10)
        stop_the_clock("clock")

        assert bucket.take("clock", 10) == (True, 18.0)


class TestRestartOfValkey:
    def test_a_closed_connection_is_opened_again(self, bucket, named, log):
        bucket.take("again", 10)
        stop_the_clock("again")
        assert close_connections_of(named) == 1

        assert bucket.take("again", 10) == (True, 18.0)
        assert log.of("rate_limit_local") == []

    def test_a_forgotten_script_is_sent_again(self, bucket, settings, log):
        bucket.take("flushed", 10)
        stop_the_clock("flushed")
        Redis.from_url(settings.REDIS_URL).script_flush()

        assert bucket.take("flushed", 10) == (True, 18.0)
        assert log.of("rate_limit_local") == []


class TestWithoutValkey:
    @pytest.mark.parametrize("address", ["redis://127.0.0.1:1/0", "unix:///nowhere/valkey.sock"])
    def test_the_same_limit_holds_in_each_process(self, bucket, settings, address):
        settings.REDIS_URL = address

        answers = [bucket.take("away", 5)[0] for _ in range(50)]

        assert answers[:10] == [True] * 10
        assert passed(answers) < 25

    def test_costs_next_to_no_time(self, bucket, settings):
        settings.REDIS_URL = "redis://127.0.0.1:1/0"

        started = time.monotonic()
        for _ in range(100):
            bucket.take("away", 5)

        assert time.monotonic() - started < 2

    def test_a_silent_server_costs_one_short_wait(self, bucket, settings, silent_server):
        settings.REDIS_URL = f"redis://127.0.0.1:{silent_server}/0"

        started = time.monotonic()
        answers = [bucket.take("silent", 5)[0] for _ in range(50)]

        assert time.monotonic() - started < 6  # 50 waits would be 12 s
        assert passed(answers) < 50

    def test_the_api_goes_on_answering(self, acme, settings):
        settings.REDIS_URL = "redis://127.0.0.1:1/0"
        settings.API_READS_PER_SECOND = 5
        api = ApiClient(make_key(acme))

        answers = [api.get(WITHOUT_VALKEY).status_code for _ in range(20)]

        assert answers[:10] == [200] * 10
        assert 429 in answers

    def test_valkey_is_tried_again(self, settings, tmp_path, log):
        """Its socket is not there, then it is."""
        socket, there = tmp_path / "valkey.sock", settings.REDIS_URL
        settings.REDIS_URL = f"unix://{socket}?{urlsplit(there).query}"
        bucket = Buckets(pause=0)
        bucket.take("back", 5)
        assert len(log.of("rate_limit_local")) == 1
        socket.symlink_to(urlsplit(there).path)

        bucket.take("back", 5)

        assert Redis.from_url(there).exists("back") == 1

    def test_forgets_the_least_used_local_buckets(self, settings):
        settings.REDIS_URL = "redis://127.0.0.1:1/0"
        bucket = Buckets(local_max=2)
        for name in ("a", "b", "a", "c"):
            bucket.take(name, 5)

        left = {name: bucket.take(name, 5)[1] for name in ("a", "b")}

        assert left["a"] < 9  # of ten, the third taken
        assert left["b"] == 9  # full again, the first taken


class TestReplies:
    def test_carry_the_limit(self, acme, settings):
        settings.API_READS_PER_SECOND = 50
        settings.API_WRITES_PER_SECOND = 20
        api = ApiClient(make_key(acme))

        read = api.get(NOTES)
        write = api.post_json(NOTES, {"amount": 1})

        assert read["RateLimit-Policy"] == '"reads";q=100;w=2'
        assert read["RateLimit"] == '"reads";r=99;t=1'
        assert write["RateLimit-Policy"] == '"writes";q=40;w=2'
        assert write["RateLimit"] == '"writes";r=39;t=1'

    @pytest.mark.parametrize("path", ["x", "bug", "locked"])
    def test_carry_it_on_errors_after_authentication_too(self, acme_api, path):
        assert "RateLimit" in acme_api.get(f"{NOTES}/{path}")

    def test_carry_it_on_403_and_405_and_400(self, acme):
        api = ApiClient(make_key(acme, scopes=["funding:read"]))

        for response in (
            api.post_json(NOTES, {"amount": 1}),
            api.put(NOTES),
            api.get(f"{NOTES}?limit=0"),
        ):
            assert "RateLimit" in response, response.status_code

    def test_not_when_nobody_is_known(self, acme):
        assert "RateLimit" not in ApiClient().get(NOTES)


class TestTooMany:
    def test_is_429_with_retry_after(self, acme, settings):
        settings.API_READS_PER_SECOND = 1
        api = ApiClient(make_key(acme))

        responses = [api.get(NOTES) for _ in range(5)]

        refused = [response for response in responses if response.status_code == 429]
        body = problem(refused[-1], 429, "rate_limited")
        assert body["detail"] == "More than 1 reads a second."
        assert refused[-1]["Retry-After"] == "1"
        assert refused[-1]["RateLimit"] == '"reads";r=0;t=1'

    def test_comes_before_scope_and_input(self, acme, settings):
        settings.API_WRITES_PER_SECOND = 1
        api = ApiClient(make_key(acme, scopes=["funding:read"]))

        answers = {api.post_json(NOTES, b"{bad").status_code for _ in range(5)}

        assert answers == {403, 429}

    def test_reads_and_writes_have_buckets_of_their_own(self, acme, settings):
        settings.API_WRITES_PER_SECOND = 1
        api = ApiClient(make_key(acme))
        for _ in range(5):
            api.post_json(NOTES, {"amount": 1})

        assert api.post_json(NOTES, {"amount": 1}).status_code == 429
        assert api.get(NOTES).status_code == 200

    def test_keys_have_buckets_of_their_own(self, acme, settings):
        settings.API_READS_PER_SECOND = 1
        busy, calm = ApiClient(make_key(acme)), ApiClient(make_key(acme))
        for _ in range(5):
            busy.get(NOTES)

        assert calm.get(NOTES).status_code == 200

    def test_staff_may_set_a_key_s_own_rates(self, acme, settings):
        settings.API_READS_PER_SECOND = settings.API_WRITES_PER_SECOND = 1
        api = ApiClient(make_key(acme))
        ApiKey.objects.update(reads_per_second=30, writes_per_second=7)

        assert api.get(NOTES)["RateLimit-Policy"] == '"reads";q=60;w=2'
        assert api.post_json(NOTES, {})["RateLimit-Policy"] == '"writes";q=14;w=2'

    def test_another_forwarded_address_does_not_help(self, acme, settings):
        settings.API_READS_PER_SECOND = 1
        settings.TRUSTED_PROXY_COUNT = 1
        api = ApiClient(make_key(acme))

        answers = [
            api.get(NOTES, headers={"X-Forwarded-For": f"203.0.113.{number}"}).status_code
            for number in range(50)
        ]

        assert answers.count(429) >= 30
