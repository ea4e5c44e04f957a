"""A process does not start with settings that would give secrets or money away."""

from __future__ import annotations

import base64
import os
import subprocess
import sys

import pytest
from celery import Celery
from django.core.exceptions import ImproperlyConfigured
from kombu.exceptions import OperationalError

from config import safety
from devstack import programs
from devstack.paths import ROOT, profile
from tests.common.engine.test_http_client import certificate
from tests.config.test_environment import DEVELOPMENT, KEY, PRODUCTION, key
from tests.servers import free_port
from tests.tls_server import TlsServer

ZEROS = "k1:" + base64.b64encode(bytes(32)).decode()
PUBLIC = "x:8QBagZdFxRR7C2tTGtXbOlhOnaHhMdz2ixFQMnUGAzk="
SOUND = key("sound") + key("and more")
SOUND_IN_DEVELOPMENT = DEVELOPMENT | dict.fromkeys(
    ["SECRET_KEY", "ENCRYPTION_KEYS", "FINGERPRINT_KEY"], ""
)
NOBODY_THERE = {
    "DATABASE_URL": "postgresql://app@127.0.0.1:1/app",
    "REDIS_URL": "redis://127.0.0.1:1",
}


def run(arguments, **given):
    """What a process says that has only these variables, and how it ended."""
    return subprocess.run(
        [sys.executable, *arguments],
        env={"PATH": os.environ["PATH"], "DJANGO_SETTINGS_MODULE": "config.settings", **given},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


class TestSettings:
    @pytest.mark.parametrize(
        ("given", "sentence"),
        [
            (
                DEVELOPMENT | {"BASE_URL": "https://ballast.example"},
                "DEBUG is for a copy on this machine: set DEBUG=False, or a BASE_URL such as"
                " http://localhost:8000",
            ),
            (
                DEVELOPMENT | {"BASE_URL": "http://127.0.0.1.example"},
                "DEBUG is for a copy on this machine: set DEBUG=False, or a BASE_URL such as"
                " http://localhost:8000",
            ),
            (
                DEVELOPMENT | {"WEB_BIND": "0.0.0.0:8000"},
                "DEBUG is for a copy on this machine: set DEBUG=False, or listen on 127.0.0.1"
                " instead of 0.0.0.0:8000",
            ),
            (
                {"BASE_URL": "http://ballast.example"},
                "BASE_URL must begin with https:// outside development: set it to the address that"
                " people type, or DEBUG=True on your own machine",
            ),
            (
                {"BASE_URL": ""},
                "BASE_URL must begin with https:// outside development: set it to the address that"
                " people type, or DEBUG=True on your own machine",
            ),
            (
                {"TRUSTED_PROXY_COUNT": "0"},
                "TRUSTED_PROXY_COUNT=0 with an https BASE_URL never sends HSTS and limits all"
                " clients as one: set it to the number of your proxies, or"
                " SERVED_WITHOUT_PROXY=True if there are none",
            ),
            ({"SECRET_KEY": SOUND[:49]}, "SECRET_KEY has fewer than 50 characters: make one with"),
            ({"SECRET_KEY": "x" * 50}, "SECRET_KEY has fewer than 8 different characters: make"),
            (
                {"SECRET_KEY": "development-only-" + "x" * 50},
                "SECRET_KEY is the one of development: make one with",
            ),
            (
                {"SECRET_KEY_FALLBACKS": f"{SOUND},short"},
                "SECRET_KEY_FALLBACKS has fewer than 50 characters: make one with",
            ),
            (
                {"FINGERPRINT_KEY": SOUND[:31]},
                "FINGERPRINT_KEY has fewer than 32 characters: make one with",
            ),
            (
                {"FINGERPRINT_KEY": "0" * 64},
                "FINGERPRINT_KEY has fewer than 8 different characters: make one with",
            ),
            (
                {"FINGERPRINT_KEY": "development-only"},
                "FINGERPRINT_KEY is the one of development: make one with",
            ),
            (
                {"FINGERPRINT_KEY_FALLBACKS": f"{SOUND},short"},
                "FINGERPRINT_KEY_FALLBACKS has fewer than 32 characters: make one with",
            ),
            (
                {"FINGERPRINT_KEY_FALLBACKS": PRODUCTION["FINGERPRINT_KEY"]},
                "FINGERPRINT_KEY_FALLBACKS has a key twice, or the one in use: take it out",
            ),
            (
                {"ENCRYPTION_KEYS": f"{KEY},{ZEROS.replace('k1', 'k0')}"},
                "ENCRYPTION_KEYS: key k0 has fewer than 8 different bytes: make one with",
            ),
            (
                {"ENCRYPTION_KEYS": PUBLIC},
                "ENCRYPTION_KEYS: key x is the one of development: make one with",
            ),
            ({"PROOF_KEY": PUBLIC}, "PROOF_KEY: key x is the one of development: make one with"),
            ({"SEAL_KEYS": ZEROS}, "SEAL_KEYS: key k1 has fewer than 8 different bytes: make one"),
            ({"SEAL_KEYS": PUBLIC}, "SEAL_KEYS: key x is the one of development: make one with"),
            (
                {"DATABASE_URL": "postgresql://app@db.example/app"},
                "PostgreSQL at db.example would be reached without TLS: add ?sslmode=verify-full to"
                " DATABASE_URL and DATABASE_OWNER_URL, or set ALLOW_PLAINTEXT_POSTGRESQL=True if"
                " that network is yours alone",
            ),
            (
                {"REDIS_URL": "redis://:password@10.0.0.5:6379/0"},
                "Valkey at 10.0.0.5 would be reached without TLS: write REDIS_URL as rediss://, or"
                " set ALLOW_PLAINTEXT_VALKEY=True if that network is yours alone",
            ),
        ],
    )
    def test_stop_at_what_is_unsafe_with_a_sentence_that_says_what_to_do(
        self, start, given, sentence
    ):
        with pytest.raises(ImproperlyConfigured) as refusal:
            start(**PRODUCTION | given)

        (line,) = str(refusal.value).splitlines()
        assert line.startswith(sentence)
        assert "password" not in line
        assert SOUND[:20] not in line

    @pytest.mark.parametrize(
        "given",
        [
            SOUND_IN_DEVELOPMENT,
            DEVELOPMENT | {"BASE_URL": "http://[::1]:8000", "WEB_BIND": "unix:/run/web.sock"},
            {"TRUSTED_PROXY_COUNT": "0", "SERVED_WITHOUT_PROXY": "True"},
            {
                "DATABASE_URL": "postgresql://app@db/app",
                "ALLOW_PLAINTEXT_POSTGRESQL": "True",
                "REDIS_URL": "redis://valkey:6379/0",
                "ALLOW_PLAINTEXT_VALKEY": "True",
            },
            {
                "DATABASE_URL": "postgresql://app@db.example/app?sslmode=verify-full",
                "REDIS_URL": "rediss://valkey.example:6379/0",
            },
        ],
    )
    def test_are_read_where_they_are_safe_or_unsafe_on_purpose(self, start, given):
        variables = PRODUCTION | given

        assert variables["BASE_URL"] == start(**variables).BASE_URL


@pytest.mark.slow
class TestProcess:
    @pytest.mark.parametrize("given", [PRODUCTION, PRODUCTION | SOUND_IN_DEVELOPMENT])
    def test_starts_with_what_is_safe(self, given):
        ended = run(["manage.py", "check"], **given)

        assert (ended.returncode, "ImproperlyConfigured" in ended.stderr) == (0, False)

    def test_stops_with_one_sentence_that_says_what_to_do(self):
        ended = run(["manage.py", "check"], **PRODUCTION | {"SECRET_KEY": SOUND[:49]})

        assert ended.returncode == 1
        last_line = ended.stderr.strip().splitlines()[-1]
        sentence = "SECRET_KEY has fewer than 50 characters: make one with"
        assert last_line.startswith(f"django.core.exceptions.ImproperlyConfigured: {sentence}")
        assert SOUND[:20] not in ended.stderr

    @pytest.mark.parametrize("name", ["web", "worker", "beat", "dispatcher"])
    def test_is_any_process_of_the_product(self, name):
        given = PRODUCTION | NOBODY_THERE | {"SEAL_KEYS": ZEROS}
        (program,) = (
            each for each in programs.of_product(profile(), free_port(), given) if each.name == name
        )

        ended = run(program.command[1:], **given)

        assert ended.returncode != 0
        assert "SEAL_KEYS: key k1 has fewer than 8 different bytes" in ended.stderr

    def test_listens_to_no_other_machine_in_development(self):
        """Whatever WEB_BIND says, `--bind` decides."""
        command = ["-m", "gunicorn", "--config=config/gunicorn.py", "config.wsgi:application"]

        ended = run([*command, f"--bind=0.0.0.0:{free_port()}"], **DEVELOPMENT)

        assert ended.returncode == 1
        assert "Error: DEBUG is for a copy on this machine: set DEBUG=False, or" in ended.stderr
        assert "Traceback" not in ended.stderr


class TestPostgresql:
    @pytest.mark.parametrize(
        "settings",
        [
            {"HOST": "10.0.0.5"},
            {"HOST": "127.0.0.1,10.0.0.5"},
            {"HOST": "localhost", "OPTIONS": {"hostaddr": "10.0.0.5"}},
            {"HOST": "", "OPTIONS": {"host": "db.example"}},
            {"HOST": "", "OPTIONS": {"service": "books"}},
            {"HOST": "10.0.0.5", "OPTIONS": {"sslmode": "prefer"}},
        ],
    )
    def test_elsewhere_needs_tls(self, settings):
        with pytest.raises(ImproperlyConfigured, match="would be reached without TLS"):
            safety.require_tls_to_postgresql(settings)

    @pytest.mark.parametrize(
        "settings",
        [
            {},
            {"HOST": "/run/postgresql"},
            {"HOST": "localhost"},
            {"HOST": "::1,127.0.0.1"},
            {"HOST": "10.0.0.5", "OPTIONS": {"sslmode": "verify-ca"}},
            {"HOST": "localhost", "OPTIONS": {"sslmode": "require"}},
        ],
    )
    def test_here_needs_none(self, settings):
        safety.require_tls_to_postgresql(settings)

    @pytest.mark.parametrize("hosts", ["10.0.0.5", "127.0.0.1,10.0.0.5"])
    def test_elsewhere_proves_who_it_is(self, hosts):
        """`require` encrypts for whoever answers. A certificate, or a proof of the password that is
        bound to the connection, shows that it is the server."""
        options = {"sslmode": "require"}
        with pytest.raises(ImproperlyConfigured, match=r"at 10\.0\.0\.5 would not have to prove"):
            safety.require_tls_to_postgresql({"HOST": hosts, "OPTIONS": options})

        options["channel_binding"] = "require"
        safety.require_tls_to_postgresql({"HOST": hosts, "OPTIONS": options})

    def test_is_also_found_where_libpq_s_own_variables_lead(self, monkeypatch):
        monkeypatch.setenv("PGHOST", "db.example")

        with pytest.raises(ImproperlyConfigured, match=r"PostgreSQL at db\.example"):
            safety.require_tls_to_postgresql({"HOST": ""})

        monkeypatch.setenv("PGSSLMODE", "verify-full")
        safety.require_tls_to_postgresql({"HOST": ""})


class TestValkey:
    @pytest.mark.parametrize("url", ["redis://valkey/0", "redis://127.0.0.1.example:6379"])
    def test_elsewhere_needs_tls(self, url):
        with pytest.raises(ImproperlyConfigured, match="would be reached without TLS"):
            safety.require_tls_to_valkey(url)

    @pytest.mark.parametrize(
        "url", ["redis://localhost:6379/0", "redis://[::1]", "unix:///run/valkey.sock?db=0"]
    )
    def test_here_needs_none(self, url):
        safety.require_tls_to_valkey(url)


class TestBroker:
    """kombu, which Celery's messages go through, asks for no certificate unless it is told to."""

    @pytest.mark.parametrize("more", ["", "?ssl_ca_certs={other}"])
    def test_says_nothing_to_a_server_that_nobody_vouches_for(self, start, tmp_path, more):
        server = TlsServer(certificate(tmp_path / "valkey.pem"))
        query = more.format(other=certificate(tmp_path / "other.pem"))
        settings = start(
            **PRODUCTION | {"REDIS_URL": f"rediss://:s3cret@127.0.0.1:{server.port}/0{query}"}
        )
        broker = Celery(broker=settings.CELERY_BROKER_URL, set_as_current=False)
        broker.conf.broker_use_ssl = getattr(settings, "CELERY_BROKER_USE_SSL", None)

        with pytest.raises(OperationalError, match="certificate verify failed"):
            broker.connection_for_write().ensure_connection(max_retries=1, interval_start=0)

        server.close()
        assert server.received == b""

    def test_speaks_with_one_whose_authority_is_named(self, start, tmp_path):
        pem = certificate(tmp_path / "valkey.pem")
        server = TlsServer(pem)
        settings = start(
            **PRODUCTION | {"REDIS_URL": f"rediss://127.0.0.1:{server.port}/0?ssl_ca_certs={pem}"}
        )
        broker = Celery(broker=settings.CELERY_BROKER_URL, set_as_current=False)
        broker.conf.broker_use_ssl = settings.CELERY_BROKER_USE_SSL

        with pytest.raises(OperationalError):
            broker.connection_for_write().ensure_connection(max_retries=1, interval_start=0)

        server.close()
        assert server.received.startswith(b"*")


class TestBind:
    @pytest.mark.parametrize("bind", ["0.0.0.0:80", ":80", "[::]:80", "10.0.0.1:80", "fd://3"])
    def test_of_others(self, bind):
        with pytest.raises(ImproperlyConfigured, match=r"listen on 127\.0\.0\.1 instead of"):
            safety.require_private_bind(bind)

    @pytest.mark.parametrize("bind", ["127.0.0.1:80", "localhost:80", "[::1]:80", "unix:/run/a"])
    def test_of_this_machine(self, bind):
        safety.require_private_bind(bind)


def test_djangos_own_server_is_not_started():
    ended = run(["manage.py", "runserver", "0.0.0.0:8000"], DEBUG="True")

    assert ended.returncode == 1
    assert "start it with ./run" in ended.stderr
