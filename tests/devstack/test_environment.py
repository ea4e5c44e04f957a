from __future__ import annotations

import base64
import stat
from pathlib import Path

import pytest

from devstack import environment
from devstack.errors import DevstackError
from devstack.paths import JOB_ROLES, Profile


@pytest.fixture
def dev(state: Path, monkeypatch: pytest.MonkeyPatch) -> Profile:
    names = (
        "DATABASE_URL",
        "DATABASE_API_URL",
        *JOB_ROLES,
        "DATABASE_OWNER_URL",
        "REDIS_URL",
        "BASE_URL",
        "DEBUG",
    )
    for name in (*names, "BALLAST_RUN_DIR"):
        monkeypatch.delenv(name, raising=False)
    (state / "dev").mkdir()
    return Profile("dev", state / "dev")


class TestDevelopment:
    def test_points_at_the_profile(self, dev: Profile):
        variables = environment.serving(dev, port=9000)

        assert variables["DATABASE_URL"] == dev.database_url
        assert variables["DATABASE_OWNER_URL"] == dev.owner_database_url
        assert variables["REDIS_URL"] == dev.redis_url()
        assert variables["BASE_URL"] == "http://localhost:9000"
        assert variables["BALLAST_RUN_DIR"] == str(dev.home)
        assert variables["WEBHOOK_ALLOWED_NETWORKS"] == "127.0.0.0/8,::1/128"

    def test_gives_way_to_what_the_caller_set(self, dev: Profile, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("DATABASE_URL", "postgresql://other/db")
        monkeypatch.setenv("REDIS_URL", "")

        variables = environment.development(dev)

        assert variables["DATABASE_URL"] == "postgresql://other/db"
        assert "DATABASE_OWNER_URL" not in variables
        assert variables["REDIS_URL"] == dev.redis_url()

    def test_an_owner_alone_is_refused(self, dev: Profile, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("DATABASE_OWNER_URL", "postgresql://owner@other/db")

        with pytest.raises(DevstackError, match="DATABASE_OWNER_URL is given without"):
            environment.development(dev)


class TestTesting:
    def test_knows_a_superuser_of_the_profile_only(
        self, dev: Profile, monkeypatch: pytest.MonkeyPatch
    ):
        ours = environment.testing(dev)
        monkeypatch.setenv("DATABASE_URL", "postgresql://app@other/db")
        monkeypatch.setenv("DATABASE_OWNER_URL", "postgresql://owner@other/db")
        theirs = environment.testing(dev)

        assert ours["BALLAST_TEST_SUPERUSER_URL"] == dev.superuser_database_url
        assert "BALLAST_TEST_SUPERUSER_URL" not in theirs
        assert theirs["DATABASE_OWNER_URL"] == "postgresql://owner@other/db"


class TestSecrets:
    def test_stay_the_same_and_private(self, dev: Profile):
        first, again = environment.development(dev), environment.development(dev)

        kept = dev.home / "secrets.json"
        assert first == again
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600

    def test_differ_from_copy_to_copy(self, dev: Profile, state: Path):
        (state / "blue").mkdir()

        ours = environment.development(dev)
        theirs = environment.development(Profile("blue", state / "blue"))

        for name in ("SECRET_KEY", "ENCRYPTION_KEYS", "FINGERPRINT_KEY", "PROOF_KEY", "SEAL_KEYS"):
            assert ours[name] != theirs[name]

    def test_hold_a_whole_encryption_key(self, dev: Profile):
        _, kind, key = environment.development(dev)["ENCRYPTION_KEYS"].split(":")

        assert kind == "hkdf"

        assert len(base64.b64decode(key, validate=True)) == 32
