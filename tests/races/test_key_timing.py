"""A refusal takes as long whether the prefix is known or not (RELIABILITY S06)."""

from __future__ import annotations

import statistics
import time

import pytest

from tenants import key_text, selectors
from tenants.models import ApiKey, Mode
from tests.builders import NOW, make_key
from tests.database import owner

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

ROUNDS = 1000
DIFFERENCE_MAX = 0.001  # seconds


def seconds(text: str) -> float:
    started = time.perf_counter()
    assert selectors.find_key_holder(text=text, now=NOW) is None
    return time.perf_counter() - started


def test_medians_of_unknown_wrong_and_revoked_are_within_a_millisecond(acme):
    known, revoked = make_key(acme), make_key(acme)
    with owner.as_superuser(triggers=False):
        ApiKey.objects.filter(prefix=key_text.prefix_of(known)).update(digest="1" * 64)
    ApiKey.objects.filter(prefix=key_text.prefix_of(revoked)).update(revoked_at=NOW)
    unknown = key_text.new(Mode.SANDBOX)

    taken = [(seconds(unknown), seconds(known), seconds(revoked)) for _ in range(ROUNDS)]

    medians = [statistics.median(column) for column in zip(*taken, strict=True)]
    assert max(medians) - min(medians) < DIFFERENCE_MAX
