from __future__ import annotations

from datetime import timedelta

import pytest

from networks.ach.inbound import deciding, waiting
from networks.ach.models import InRecord
from tests.networks.ach.inbound.builders import (
    NOW,
    answer_batch,
    answer_file,
    returned,
    take,
)

pytestmark = pytest.mark.django_db


def test_counts_what_people_have_to_decide(entry):
    assert waiting.count(now=NOW) == (0, 0)

    take(answer_file(answer_batch(*returned(entry, amount=1))))
    take(b"half a file")

    assert waiting.count(now=NOW) == (2, 0)
    assert waiting.count(now=NOW + timedelta(days=9)) == (2, 1)
    record = InRecord.objects.get()
    deciding.resolve(record_id=record.pk, staff="anna", why="nothing of ours", now=NOW)
    assert waiting.count(now=NOW + timedelta(days=9)) == (1, 0)
