"""One entry at the desk: its life, what banks said of it, and no account number."""

from __future__ import annotations

import html

import pytest

from common import crypto
from networks.ach import building, freezing
from networks.ach.models import AchEntry, InFile, InRecord, OutFile
from tenants.models import AuditEvent
from tests.builders import browser_of, make_staff
from tests.networks.ach.builders import (
    FREEZE,
    RAIL,
    account,
    instruction,
    make_originator,
    make_rail,
    take,
    take_some,
)

NUMBER = "998877665544"
REASON = "The tenant asked for it"
RAW = (
    f"621091000019{NUMBER:<17}0000000500ID1            ACME CORP               1091000010000009\n"
    "799R01099900000000001      01100001                                            091000010000009"
)


@pytest.fixture
def entry(acme):
    make_rail()
    make_originator()
    (taken,) = take(instruction(amount=500, account=account(NUMBER), tenant_id=acme.pk))
    return taken


@pytest.fixture
def file(entry):
    take_some(1)
    (file_id,) = freezing.freeze_due(RAIL, now=FREEZE)
    assert building.build(file_id, now=FREEZE)
    return OutFile.objects.get(pk=file_id)


def address(entry, part=""):
    return f"/admin/desk/entries/{entry.instruction_id}/{part}"


def shown(browser, path):
    return html.unescape(browser.get(path).content.decode())


def returned(entry):
    """What a bank said of the trace of an entry."""
    entry.refresh_from_db()
    file = InFile.objects.create(
        rail_id=RAIL,
        folder="inbound",
        name="returns.ach",
        size=188,
        sha256="0" * 64,
        chunk_count=1,
        received_at=FREEZE,
    )
    row = InRecord(
        file=file,
        rail_id=RAIL,
        line=3,
        kind="return",
        original_trace=entry.trace_number,
        code="R01",
        amount=entry.amount,
        received_at=FREEZE,
    )
    row.raw_token = crypto.encrypt(RAW, context=row.encryption_context)
    row.save()
    return row


class TestPage:
    def test_shows_its_life_with_links(
        self, desk, acme, entry, file, django_assert_max_num_queries
    ):
        with django_assert_max_num_queries(18):
            content = shown(desk, address(entry))

        for text in (
            "$5.00, debit",
            "··5544",
            "ACME LODZ GMBH",
            "Put into a file",
            "Acme",
            f"/admin/desk/files/{file.pk}/batches/1/",
            "/admin/funding/fundingtransaction/",
        ):
            assert text in content
        assert NUMBER not in content

    def test_shows_records_as_they_came_but_for_the_account(self, desk, entry, file):
        returned(entry)

        content = shown(desk, address(entry))

        assert "Return, R01:" in content
        assert "returns.ach line 3" in content
        assert "********5544" in content
        assert NUMBER not in content

    def test_says_why_it_waits(self, desk, entry):
        AchEntry.objects.update(waits_for="daily_limit")

        assert "over the daily limit of its originator" in shown(desk, address(entry))

    @pytest.mark.parametrize("name", ["ftx_unknown", "%00", "x" * 300, "<script>"])
    def test_of_what_is_not_there(self, desk, db, name):
        assert desk.get(f"/admin/desk/entries/{name}/").status_code == 404

    def test_needs_its_permission(self, staff_with, entry):
        assert staff_with("ach.view_outfile").get(address(entry)).status_code == 403


class TestFind:
    def test_finds_by_trace_reference_and_id(self, desk, entry, file):
        entry.refresh_from_db()

        for asked in (entry.trace_number, entry.reference, f" {entry.instruction_id} "):
            answer = desk.get("/admin/desk/entries/", {"q": asked})
            assert answer["Location"] == address(entry)

    @pytest.mark.parametrize(
        "asked", ["", "9" * 15, "ACHx", "\0", "<script>alert(1)</script>", "'"]
    )
    def test_finds_nothing_else(self, desk, entry, asked):
        answer = desk.get("/admin/desk/entries/", {"q": asked})

        assert answer.status_code == 200
        assert "<script>alert(1)" not in answer.content.decode()


class TestTakeOut:
    def test_ends_the_entry_and_lets_the_others_wait(self, desk, entry, file):
        desk.post(address(entry, "take-out/"), {"reason": REASON})

        entry.refresh_from_db()
        others = AchEntry.objects.exclude(pk=entry.pk)
        assert (entry.status, [other.status for other in others]) == ("withdrawn", ["waiting"])
        event = AuditEvent.objects.get(action="ach_entry.taken_out")
        assert (event.subject_id, event.staff_note) == (entry.instruction_id, REASON)

    def test_of_one_that_waits_is_refused(self, desk, entry):
        answer = desk.post(address(entry, "take-out/"), {"reason": REASON})

        assert "is in no file." in answer.content.decode()
        assert not AuditEvent.objects.filter(action="ach_entry.taken_out").exists()

    def test_asks_again_who_it_is(self, entry, file):
        sam = make_staff("sam@ballast.example", password="long ago")
        browser = browser_of(sam, minutes_ago=11)
        response = browser.post(address(entry, "take-out/"), {"reason": REASON})

        assert b"Confirm it is you" in response.content
        entry.refresh_from_db()
        assert entry.status == "frozen"

    def test_needs_its_permission(self, staff_with, entry, file):
        browser = staff_with("ach.view_achentry", "ach.release_outfile")

        assert browser.post(address(entry, "take-out/"), {"reason": REASON}).status_code == 403
        assert "Take out" not in shown(browser, address(entry))


def test_its_row_in_the_admin_leads_to_its_page(desk, entry):
    answer = desk.get(f"/admin/ach/achentry/{entry.pk}/change/")

    assert (answer.status_code, answer["Location"]) == (302, address(entry))


def test_its_row_in_the_admin_leads_nobody_there_who_may_not_see_it(staff_with, entry):
    answer = staff_with("tenants.view_tenant").get(f"/admin/ach/achentry/{entry.pk}/change/")

    assert answer.status_code == 403
