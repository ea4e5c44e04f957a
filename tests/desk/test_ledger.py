"""The ledger page: checks, a check now, and the journal as a file."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from balance import invariants
from balance import services as ledger
from balance.models import LedgerCheck, LedgerFullProof
from balance.tasks import check_ledger
from common import database_clock
from common.clock import utc_now
from desk.home.attention import of_seals
from desk.ledger.seals import seal_line
from seals import publication, rounds
from seals.models import SealRound
from tenants.models import AuditEvent
from tests.balance.builders import fund, movement

NOVEMBER_20 = {"first": "2026-11-20", "last": "2026-11-20"}


@pytest.fixture
def books(acme, rival):
    """Two postings of acme on the 20th, one just before midnight, one of rival on the 19th."""
    fund(rival, 7, now=datetime(2026, 11, 19, 12, tzinfo=UTC))
    fund(acme, 1_000, now=datetime(2026, 11, 20, 5, tzinfo=UTC), description="=1+1")
    ledger.lock(**movement(acme, 300, now=datetime(2026, 11, 21, 4, 59, 59, tzinfo=UTC)))
    fund(acme, 5, now=datetime(2026, 11, 21, 5, tzinfo=UTC))  # midnight in New York
    return acme


def lines_of(response):
    return b"".join(response.streaming_content).decode().splitlines()


class TestChecks:
    def test_are_listed_with_result_and_duration(self, desk, acme):
        invariants.check(now=utc_now() - timedelta(hours=3))
        ledger.change_pending(tenant_id=acme.pk, delta=500)
        invariants.check(now=utc_now(), full=True)

        content = desk.get("/admin/desk/ledger/").content.decode()

        assert "1 finding" in content
        assert "Proven" in content
        assert "everything" in content

    def test_name_what_they_found(self, desk, acme):
        ledger.change_pending(tenant_id=acme.pk, delta=500)
        invariants.check(now=utc_now())
        check = LedgerCheck.objects.get()

        content = desk.get(f"/admin/balance/ledgercheck/{check.pk}/change/").content.decode()

        assert check.findings[0]["message"] in content
        assert acme.pk in content

    def test_say_how_old_the_oldest_full_proof_is(self, desk, acme):
        now = utc_now()
        with database_clock.at(now):
            invariants.check(now=now, full=True)
        assert "Too long ago" not in desk.get("/admin/desk/ledger/").content.decode()

        LedgerFullProof.objects.update(proven_at=now - timedelta(hours=27))
        content = desk.get("/admin/desk/ledger/").content.decode()

        assert "Oldest proof from the first row" in content
        assert "Too long ago" in content


class TestSeals:
    def test_say_how_far_they_go_and_where_that_is_published(self, desk, books, settings, tmp_path):
        before = desk.get("/admin/desk/ledger/").content.decode()
        assert "Nothing sealed yet" in before
        assert "The first round comes within 15 minutes of the start of the workers." in before
        rounds.seal_due(now=utc_now())
        nowhere = desk.get("/admin/desk/ledger/").content.decode()
        settings.SEAL_FILE = str(tmp_path / "seals")
        publication.publish(now=utc_now())

        told = desk.get("/admin/desk/ledger/").content.decode()

        digest = SealRound.objects.get().mac[:12]
        assert "It is published nowhere" in nowhere
        assert digest in nowhere
        assert "The first round" not in nowhere
        assert "Published by file:" in told
        assert "nowhere" not in told

    @pytest.mark.parametrize(
        ("hours", "told"),
        [
            (0.5, None),
            (1.5, "Seals: Sealed, but too long ago."),
            (0.9, "Seals: Sealed, not published by file."),
        ],
    )
    def test_that_stop_are_on_the_home_page(self, books, settings, tmp_path, hours, told):
        settings.SEAL_FILE = str(tmp_path / "seals")
        now = utc_now()
        rounds.seal_due(now=now)
        late = timedelta(hours=3 if hours == 0.9 else 0)
        publication.publish(now=now - late)

        line = seal_line(now + timedelta(hours=hours))

        assert [each.text for each in of_seals(line)] == ([told] if told else [])


class TestRunNow:
    @pytest.mark.parametrize(("kind", "full"), [("new", False), ("full", True)])
    def test_wakes_a_worker_on_the_record(
        self, desk, sam, woken, kind, full, django_capture_on_commit_callbacks
    ):
        with django_capture_on_commit_callbacks(execute=True):
            response = desk.post("/admin/desk/ledger/check/", {"kind": kind})

        assert response["Location"] == "/admin/desk/ledger/"
        assert woken() == [("balance.check_ledger", {"full": full})]
        event = AuditEvent.objects.get(action="ledger_check.requested")
        assert (event.actor_id, event.details) == (sam.pk, {"full": full})

    def test_is_what_the_worker_does(self, db):
        check_ledger.apply(kwargs={"full": True})

        assert LedgerCheck.objects.get().is_full

    def test_needs_the_permission(self, staff_with, db):
        browser = staff_with("balance.view_ledgercheck")

        assert browser.get("/admin/desk/ledger/").status_code == 200
        assert browser.post("/admin/desk/ledger/check/").status_code == 403
        assert browser.post("/admin/desk/ledger/export/", NOVEMBER_20).status_code == 403


class TestExport:
    def test_holds_two_legs_of_each_posting_of_the_days(self, desk, books):
        response = desk.post("/admin/desk/ledger/export/", NOVEMBER_20)

        lines = lines_of(response)
        assert response["Content-Disposition"].endswith('journal-2026-11-20-2026-11-20.csv"')
        assert lines[0].startswith("transactionId,tenantId,sequence,createdAt,type,account,debit")
        assert [line.split(",")[4:8] for line in lines[1:]] == [
            ["credit", "bank_clearing", "1000", "0"],
            ["credit", "tenant_available", "0", "1000"],
            ["lock", "tenant_available", "300", "0"],
            ["lock", "tenant_locked", "0", "300"],
        ]
        assert lines[1].endswith(",'=1+1")

    def test_of_one_tenant_leaves_the_others_out(self, desk, books, rival):
        days = {"first": "2026-11-01", "last": "2026-11-30", "tenant": rival.pk}

        lines = lines_of(desk.post("/admin/desk/ledger/export/", days))

        assert [line.split(",")[1] for line in lines[1:]] == [rival.pk, rival.pk]

    def test_is_on_the_record(self, desk, sam, books):
        desk.post("/admin/desk/ledger/export/", NOVEMBER_20)

        event = AuditEvent.objects.get(action="journal.exported")
        assert event.actor_id == sam.pk
        assert event.details == {
            "since": "2026-11-20T05:00:00.000000Z",
            "until": "2026-11-21T05:00:00.000000Z",
        }

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"last": "2026-11-19"}, "The last day comes after the first"),
            ({"first": "2024-01-01"}, "by a year at most"),
            ({"first": "soon"}, "Enter a valid date"),
            ({"tenant": "ten_nobody"}, "There is no such tenant"),
        ],
    )
    def test_of_nonsense_is_refused(self, desk, db, changes, words):
        response = desk.post("/admin/desk/ledger/export/", NOVEMBER_20 | changes)

        assert response.status_code == 422
        assert words in response.content.decode()
        assert not AuditEvent.objects.filter(action="journal.exported").exists()
