"""Re-encrypting what is stored, tried on a column of the mail outbox."""

from __future__ import annotations

import base64
import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from common import crypto, rotation
from tenants.models import OutgoingEmail
from tests.builders import NOW

pytestmark = pytest.mark.django_db

OLD = "old:" + base64.b64encode(b"o" * 32).decode()
NEW = "new:" + base64.b64encode(b"n" * 32).decode()
COLUMN = "tenants.OutgoingEmail.last_error"


def context_of(row) -> str:
    return f"email.last_error:{row.pk}"


@pytest.fixture(autouse=True)
def _registered(monkeypatch, settings):
    settings.ENCRYPTION_KEYS = [OLD]
    monkeypatch.setattr(rotation, "_columns", {})
    monkeypatch.setattr(rotation, "BATCH", 2)
    rotation.register(model="tenants.OutgoingEmail", column="last_error", context=context_of)


def make_sealed(text="secret"):
    row = OutgoingEmail.objects.create(to="a@b.example", template="t", created_at=NOW)
    row.last_error = crypto.encrypt(text, context=context_of(row)) if text else ""
    row.save()
    return row


def opened(row) -> str:
    row.refresh_from_db()
    return crypto.decrypt(row.last_error, context=context_of(row))


def run(*options):
    out, progress = StringIO(), StringIO()
    call_command("rotate_encryption", "--json", *options, stdout=out, stderr=progress)
    return json.loads(out.getvalue()), progress.getvalue()


class TestRotation:
    def test_seals_every_value_with_the_current_key(self, settings):
        rows = [make_sealed(f"secret {number}") for number in range(5)]
        settings.ENCRYPTION_KEYS = [NEW, OLD]

        result, progress = run()

        assert result == {"keyId": "new", "rotated": {COLUMN: 5}}
        assert progress.splitlines() == [f"{COLUMN}: 2", f"{COLUMN}: 4", f"{COLUMN}: 5"]
        settings.ENCRYPTION_KEYS = [NEW]
        assert [opened(row) for row in rows] == [f"secret {number}" for number in range(5)]

    def test_leaves_empty_values_and_its_own_alone(self, settings):
        make_sealed("")
        settings.ENCRYPTION_KEYS = [NEW, OLD]
        mine = make_sealed("mine")
        before = mine.last_error

        assert run()[0]["rotated"] == {COLUMN: 0}
        mine.refresh_from_db()
        assert mine.last_error == before

    def test_goes_on_where_it_was_stopped(self, settings):
        for number in range(5):
            make_sealed(f"secret {number}")
        settings.ENCRYPTION_KEYS = [NEW, OLD]

        def stop(count: int) -> None:
            if count >= 2:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            rotation.rotate(rotation.columns()[0], progress=stop)

        assert run("--check")[0] == {"keyId": "new", "left": {COLUMN: 3}}
        assert run()[0]["rotated"] == {COLUMN: 3}
        assert run("--check")[0] == {"keyId": "new", "left": {COLUMN: 0}}

    def test_rotates_the_others_when_no_key_opens_one(self, settings):
        lost = make_sealed()
        settings.ENCRYPTION_KEYS = [NEW]
        kept = make_sealed("kept")
        settings.ENCRYPTION_KEYS = ["newest:" + base64.b64encode(b"m" * 32).decode(), NEW]

        with pytest.raises(CommandError, match=f"No key opens 1 values, of {lost.pk}"):
            run()

        assert opened(kept) == "kept"
        assert crypto.key_id(kept.last_error) == "newest"

    def test_leaves_a_value_that_changes_meanwhile(self, settings):
        row = make_sealed("before")
        settings.ENCRYPTION_KEYS = [NEW, OLD]
        read = OutgoingEmail.objects.get()
        OutgoingEmail.objects.update(last_error=crypto.encrypt("after", context=context_of(row)))
        outcome = rotation.Outcome()

        rotation._rotate_row(rotation.columns()[0], read, outcome)

        assert outcome.rotated == 0
        assert opened(row) == "after"

    def test_prints_lines_without_json(self, settings):
        make_sealed()
        settings.ENCRYPTION_KEYS = [NEW, OLD]
        out = StringIO()

        call_command("rotate_encryption", stdout=out, stderr=StringIO())

        assert out.getvalue() == f"keyId: new\nrotated.{COLUMN}: 1\n"
