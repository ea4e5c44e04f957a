from __future__ import annotations

import base64
import stat
from pathlib import Path

import pytest

from devstack import environment
from devstack.paths import Profile


@pytest.fixture
def dev(state: Path, monkeypatch: pytest.MonkeyPatch) -> Profile:
    for name in ("DATABASE_URL", "REDIS_URL", "BASE_URL", "DEBUG", "BALLAST_RUN_DIR"):
        monkeypatch.delenv(name, raising=False)
    (state / "dev").mkdir()
    return Profile("dev", state / "dev")


class TestDevelopment:
    def test_points_at_the_profile(self, dev: Profile):
        variables = environment.serving(dev, port=9000)

        assert variables["DATABASE_URL"] == dev.database_url
        assert variables["REDIS_URL"] == dev.redis_url()
        assert variables["BASE_URL"] == "http://localhost:9000"
        assert variables["BALLAST_RUN_DIR"] == str(dev.home)
        assert variables["WEBHOOK_ALLOWED_NETWORKS"] == "127.0.0.0/8,::1/128"

    def test_gives_way_to_what_the_caller_set(self, dev: Profile, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("DATABASE_URL", "postgresql://other/db")
        monkeypatch.setenv("REDIS_URL", "")

        variables = environment.development(dev)

        assert variables["DATABASE_URL"] == "postgresql://other/db"
        assert variables["REDIS_URL"] == dev.redis_url()


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

        for name in ("SECRET_KEY", "ENCRYPTION_KEYS", "FINGERPRINT_KEY"):
            assert ours[name] != theirs[name]

    def test_hold_a_whole_encryption_key(self, dev: Profile):
        _, _, key = environment.development(dev)["ENCRYPTION_KEYS"].partition(":")

        assert len(base64.b64decode(key, validate=True)) == 32
