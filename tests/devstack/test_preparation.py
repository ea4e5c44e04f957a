from __future__ import annotations

from pathlib import Path

import pytest

from devstack.preparation import schema_fingerprint


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in (
        "requirements.txt",
        "config/settings.py",
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
            "config/settings.py",
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
