"""Re-encrypting what is stored, tried on the answers kept for idempotency keys."""

from __future__ import annotations

import base64
import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from api.models import IdempotencyRecord
from common import crypto, rotation
from tests.builders import NOW

pytestmark = pytest.mark.django_db

OLD = "old:" + base64.b64encode(b"o" * 32).decode()
NEW = "new:" + base64.b64encode(b"n" * 32).decode()
NEWEST = "newest:" + base64.b64encode(b"m" * 32).decode()
COLUMN = "api.IdempotencyRecord.body_token"
ENCRYPTED = rotation.EncryptedColumn(model=IdempotencyRecord, column="body_token")


@pytest.fixture(autouse=True)
def _one_old_key(monkeypatch, settings):
    settings.ENCRYPTION_KEYS = [OLD]
    monkeypatch.setattr(rotation, "BATCH", 2)


def make_encrypted(tenant, text):
    row = IdempotencyRecord(
        tenant=tenant, key=text or "empty", fingerprint="f", status=201, created_at=NOW
    )
    row.body_token = crypto.encrypt(text, context=row.encryption_context) if text else ""
    row.save()
    return row


def opened(row) -> str:
    row.refresh_from_db()
    return crypto.decrypt(row.body_token, context=row.encryption_context)


def run(*options):
    out, progress = StringIO(), StringIO()
    call_command(
        "rotate_encryption", "--json", "--everywhere", *options, stdout=out, stderr=progress
    )
    return json.loads(out.getvalue()), progress.getvalue()


class TestRotation:
    def test_seals_every_value_with_the_current_key(self, acme, settings):
        rows = [make_encrypted(acme, f"secret {number}") for number in range(5)]
        settings.ENCRYPTION_KEYS = [NEW, OLD]

        result, progress = run()

        assert (result["keyId"], result["rotated"][COLUMN]) == ("new", 5)
        assert progress.splitlines() == [f"{COLUMN}: 2", f"{COLUMN}: 4", f"{COLUMN}: 5"]
        settings.ENCRYPTION_KEYS = [NEW]
        assert [opened(row) for row in rows] == [f"secret {number}" for number in range(5)]

    def test_leaves_empty_values_and_its_own_alone(self, acme, settings):
        make_encrypted(acme, "")
        settings.ENCRYPTION_KEYS = [NEW, OLD]
        mine = make_encrypted(acme, "mine")
        before = mine.body_token

        assert run()[0]["rotated"][COLUMN] == 0
        mine.refresh_from_db()
        assert mine.body_token == before

    def test_goes_on_where_it_was_stopped(self, acme, settings):
        for number in range(5):
            make_encrypted(acme, f"secret {number}")
        settings.ENCRYPTION_KEYS = [NEW, OLD]

        def stop(count: int) -> None:
            if count >= 2:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            rotation.rotate(ENCRYPTED, progress=stop)

        assert run("--check")[0]["left"][COLUMN] == 3
        assert run()[0]["rotated"][COLUMN] == 3
        assert run("--check")[0]["left"][COLUMN] == 0

    def test_rotates_the_others_when_no_key_opens_one(self, acme, settings):
        lost = make_encrypted(acme, "lost")
        settings.ENCRYPTION_KEYS = [NEW]
        kept = make_encrypted(acme, "kept")
        settings.ENCRYPTION_KEYS = [NEWEST, NEW]

        with pytest.raises(CommandError, match=f"No key opens 1 values, of {lost.pk}"):
            run()

        assert opened(kept) == "kept"
        assert crypto.key_id(kept.body_token) == "newest"

    def test_leaves_a_value_that_changes_meanwhile(self, acme, settings):
        row = make_encrypted(acme, "before")
        settings.ENCRYPTION_KEYS = [NEW, OLD]
        read = IdempotencyRecord.objects.get()
        changed = crypto.encrypt("after", context=row.encryption_context)
        IdempotencyRecord.objects.update(body_token=changed)
        outcome = rotation.Outcome()

        rotation._rotate_row(ENCRYPTED, read, outcome)

        assert outcome.rotated == 0
        assert opened(row) == "after"

    def test_refuses_a_key_that_has_written_nothing_until_it_is_everywhere(self, acme, settings):
        row = make_encrypted(acme, "secret")
        settings.ENCRYPTION_KEYS = [NEW, OLD]

        with pytest.raises(CommandError, match="at the end of ENCRYPTION_KEYS and restart every"):
            call_command("rotate_encryption", stdout=StringIO(), stderr=StringIO())

        row.refresh_from_db()
        assert crypto.key_id(row.body_token) == "old"
        make_encrypted(acme, "by a process that has it")
        call_command("rotate_encryption", stdout=StringIO(), stderr=StringIO())
        assert opened(row) == "secret"
        assert crypto.key_id(row.body_token) == "new"

    def test_prints_lines_without_json(self, acme, settings):
        make_encrypted(acme, "secret")
        settings.ENCRYPTION_KEYS = [NEW, OLD]
        out = StringIO()

        call_command("rotate_encryption", "--everywhere", stdout=out, stderr=StringIO())

        assert out.getvalue().splitlines()[0] == "keyId: new"
        assert f"rotated.{COLUMN}: 1" in out.getvalue().splitlines()


class TestColumns:
    def test_are_all_that_hold_secrets(self):
        assert [encrypted.name for encrypted in rotation.columns()] == [
            "ach.AchEntry.account_token",
            "ach.AchKey.private_key_token",
            "ach.Correction.corrected_token",
            "ach.Correction.old_token",
            "ach.InFileChunk.content_token",
            "ach.InRecord.raw_token",
            "ach.OutFileChunk.content_token",
            "ach.RailVersion.offset_account_token",
            "api.IdempotencyRecord.body_token",
            "funding.FundingSource.account_number_token",
            "funding.FundingSourceVersion.account_number_token",
            "funding.LinkConsent.secret_token",
            "instant.Conversation.account_token",
            "instant.InstantKey.private_key_token",
            "instant.InstantVersion.account_token",
            "instant.Message.content_token",
            "mfa.Authenticator.data.secret",
            "mfa.Authenticator.data.seed",
            "payments.Recipient.account_number_token",
            "payments.RecipientVersion.account_number_token",
            "reconciliation.SettlementAccount.number_token",
            "reconciliation.StatementLine.said_token",
            "solvency.ProofTree.secret_token",
            "webhooks.WebhookEndpoint.previous_secret_token",
            "webhooks.WebhookEndpoint.secret_token",
        ]
