from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from devstack import preparation
from devstack.errors import StartFailed
from devstack.paths import Profile
from devstack.preparation import recalled, schema_fingerprint


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in (
        "requirements.txt",
        "config/settings/apps.py",
        "balance/models.py",
        "balance/services.py",
        "payments/models/payments.py",
        "common/database/rights.py",
        "balance/migrations/0001_initial.py",
        "balance/migrations/sql/journal.sql",
        "networks/sandbox/migrations/0001_initial.py",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("first")
    return tmp_path


class TestSchemaFingerprint:
    @pytest.mark.parametrize(
        "name",
        [
            "requirements.txt",
            "config/settings/apps.py",
            "balance/migrations/0001_initial.py",
            "balance/migrations/sql/journal.sql",
            "networks/sandbox/migrations/0001_initial.py",
            "balance/models.py",
            "payments/models/payments.py",
            "common/database/rights.py",
        ],
    )
    def test_changes_with_everything_that_tables_and_grants_follow(self, checkout: Path, name: str):
        before = schema_fingerprint(checkout)

        (checkout / name).write_text("second")

        assert schema_fingerprint(checkout) != before

    def test_changes_with_a_new_migration(self, checkout: Path):
        before = schema_fingerprint(checkout)

        (checkout / "balance/migrations/0002_more.py").touch()

        assert schema_fingerprint(checkout) != before

    def test_stays_with_other_code(self, checkout: Path):
        before = schema_fingerprint(checkout)

        (checkout / "balance/services.py").write_text("second")

        assert schema_fingerprint(checkout) == before


class TestRecalled:
    @pytest.fixture
    def seed(self, tmp_path: Path) -> Callable[[str], str]:
        """The API key of a copy whose logins are made for its neighbors, or recalled."""
        keys = iter(("key 1", "key 2", "key 3"))

        def seed(said: str) -> str:
            path = tmp_path / "demo.json"
            return recalled(path, neighbors=said, make=lambda: {"apiKey": next(keys)})["apiKey"]

        return seed

    def test_makes_the_demo_tenants_once(self, seed: Callable[[str], str]):
        assert [seed("one"), seed("one")] == ["key 1", "key 1"]

    def test_makes_them_again_for_neighbors_with_other_ports_or_keys(
        self, seed: Callable[[str], str]
    ):
        assert [seed("one"), seed("two"), seed("two")] == ["key 1", "key 2", "key 2"]

    def test_makes_them_again_for_another_database(self, seed: Callable[[str], str]):
        assert [seed("one"), seed(""), seed("")] == ["key 1", "key 2", "key 3"]

    def test_makes_them_in_a_copy_of_before_there_was_a_receiver(
        self, seed: Callable[[str], str], tmp_path: Path
    ):
        (tmp_path / "demo.json").write_text(json.dumps({"bank": "one", "demo": {}}))

        assert seed("one") == "key 1"


class TestNeighbors:
    def test_are_waited_for(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        profile = Profile("dev", tmp_path)
        monkeypatch.setattr(preparation, "NEIGHBOR_SECONDS", 0.1)
        with pytest.raises(StartFailed, match=r"The bank in .* did not start within"):
            preparation.neighbors_said(profile)
        profile.bank.mkdir()
        profile.bank_connection.write_text("port 1")
        with pytest.raises(StartFailed, match=r"The instant in .* did not start within"):
            preparation.neighbors_said(profile)
        profile.operator.mkdir()
        profile.operator_connection.write_text("port 2")
        with pytest.raises(StartFailed, match=r"The receiver in .* did not start within"):
            preparation.neighbors_said(profile)
        profile.receiver.mkdir()
        profile.receiver_connection.write_text("port 3")

        first = preparation.neighbors_said(profile)

        profile.bank_connection.write_text("port 5")
        second = preparation.neighbors_said(profile)
        profile.receiver_connection.write_text("port 4")
        assert len({first, second, preparation.neighbors_said(profile)}) == 3
