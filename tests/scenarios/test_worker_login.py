"""Worker and beat as processes: they log in as their own role (decision 0190)."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.db import connection

from common.clock import utc_now
from common.database import jobs
from tenants.emails import queue_password_reset
from tenants.models import OutgoingEmail, User
from tests.database import owner
from tests.scenarios.product import running, wait_until
from tests.settings import TEST_SUPERUSER

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]

# Tests themselves log in as a superuser.
LOGINS = """
SELECT DISTINCT usename::text FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND usename <> %s
"""


def logins():
    with owner.as_superuser(), connection.cursor() as cursor:
        cursor.execute(LOGINS, [TEST_SUPERUSER])
        return {name for (name,) in cursor.fetchall()}


def test_they_mail_a_link_and_know_no_other_login_but_those_of_jobs(tmp_path):
    person = User.objects.create_user(email="ada@acme.example", password="four words make one")
    queue_password_reset(user=person, now=utc_now())
    seen = set()

    def is_sent():
        seen.update(logins())
        return OutgoingEmail.objects.get().sent_at is not None

    with running(tmp_path, 0, "valkey", "worker", "beat") as product:
        wait_until(is_sent, seconds=90)
        assert "permission denied" not in product.logs("worker")

    of_jobs = {str(login["USER"]) for login in settings.DATABASE_JOBS.values()}
    assert settings.DATABASE_JOBS[jobs.WORKER]["USER"] in seen
    assert seen <= of_jobs
