"""Which secrets sign at a moment, kept in memory or not."""

from __future__ import annotations

from datetime import timedelta

import pytest

from common import crypto
from common.crypto import Undecryptable
from tests.builders import NOW
from webhooks.models import secret_context
from webhooks.services.secrets import decrypt_secrets

CONTEXT = secret_context("wh_1")
NEW, OLD = (crypto.encrypt(text, context=CONTEXT) for text in ("new", "old"))


def opened(now, endpoint_id="wh_1"):
    secrets = decrypt_secrets(
        endpoint_id=endpoint_id,
        token=NEW,
        previous_token=OLD,
        previous_expires_at=NOW,
        now=now,
    )
    return secrets.current, secrets.previous


def test_the_old_one_signs_until_its_overlap_ends_and_not_a_moment_longer():
    assert opened(NOW - timedelta(microseconds=1)) == ("new", "old")

    assert opened(NOW) == ("new", None)


def test_one_that_is_kept_in_memory_opens_for_its_own_endpoint_only():
    opened(NOW)

    with pytest.raises(Undecryptable):
        opened(NOW, endpoint_id="wh_2")
