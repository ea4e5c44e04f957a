from __future__ import annotations

import pytest
from django.db import connection

from networks.ach import references
from tests.networks.ach.inbound import builders

pytestmark = pytest.mark.django_db


def test_name_a_file_and_a_batch():
    batch = builders.make_batch(builders.make_rail(), number=12)
    file = batch.file
    made = f"{file.file_date:%y%m%d}{file.file_time:%H%M}"

    assert references.of_file(file) == f"{made}A"
    assert references.of_batch(batch) == f"{made}A-0000012"


def test_are_the_same_in_sql():
    batch = builders.make_batch(builders.make_rail(), number=12)

    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {references.FILE}, {references.BATCH}"
            " FROM ach_outfile AS file JOIN ach_achbatch AS batch ON batch.file_id = file.id"
        )
        found = cursor.fetchall()

    assert found == [(references.of_file(batch.file), references.of_batch(batch))]
