"""Files at the desk: two people let one go, and neither of them built it."""

from __future__ import annotations

import html
import re
from datetime import timedelta

import pytest

from desk.files import lines
from desk.home.attention import of_ach
from networks.ach import building, freezing, sealing
from networks.ach.models import AchEntry, OutFile
from networks.ach.sending import send_next
from tenants.models import AuditEvent, User
from tests.builders import browser_of, make_staff
from tests.desk.ach import approve
from tests.networks.ach import life
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
from tests.networks.ach.folder import Folder

LIST = "/admin/desk/files/"
REASON = "The total looks wrong"
NUMBER = "998877665544"


@pytest.fixture
def bank(db):
    make_rail()
    make_originator()


@pytest.fixture
def file(bank):
    """Three debits of 12.34 and one of 5.00, built by a worker."""
    take_some(3)
    take(instruction(amount=500, account=account(NUMBER)))
    return built()


def built(*, by="system"):
    (file_id,) = freezing.freeze_due(RAIL, now=FREEZE)
    assert building.build(file_id, now=FREEZE, by=by)
    return OutFile.objects.get(pk=file_id)


@pytest.fixture
def kim(db):
    return browser_of(make_staff("kim@ballast.example"))


def address(file, part=""):
    return f"{LIST}{file.pk}/{part}"


def shown(browser, path):
    return html.unescape(browser.get(path).content.decode())


def status_of(file):
    return OutFile.objects.get(pk=file.pk).status


def release(browser, file, total=None):
    return browser.post(
        address(file, "release/"), {} if total is None else {"total": total}
    ).content.decode()


class TestList:
    def test_shows_what_will_go_and_what_is_left_out(self, desk, bank):
        take_some(2)
        take_some(1, amount=100_00)
        AchEntry.objects.filter(amount=100_00).update(waits_for="exposure")

        content = shown(desk, LIST)

        for text in (
            "2 entries, $24.68.",
            "BALLAST, debits",
            "Over what may be sent and not final",
        ):
            assert text in content
        assert len(re.findall("data-until", content)) <= 3

    def test_shows_files_with_totals_and_the_next_step(
        self, desk, file, django_assert_max_num_queries
    ):
        with django_assert_max_num_queries(20):
            content = shown(desk, LIST)

        for text in (file.remote_name, "$42.02", "To be released", "First release"):
            assert text in content

    @pytest.mark.parametrize("text", ["No bank takes files", "No file is waiting.", "No file yet."])
    def test_says_what_to_do_when_it_is_empty(self, desk, db, text):
        assert text in shown(desk, LIST)

    @pytest.mark.parametrize("before", ["ofl_unknown", "%00", "'"])
    def test_refuses_a_page_that_is_not_there(self, desk, bank, before):
        assert desk.get(f"{LIST}?before={before}").status_code == 404


class TestHome:
    def test_says_what_waits_for_a_release(self, file):
        (long_before,) = of_ach(now=FREEZE - timedelta(hours=1))
        (near,) = of_ach(now=file.cutoff_at - timedelta(minutes=5))

        assert (long_before.tone, long_before.text) == ("warn", "Files to release: 1.")
        assert near.tone == "bad"

    def test_says_which_parts_of_a_rail_are_stopped(self, desk, bank):
        stop = {"part": "sending", "reason": REASON}
        desk.post(f"/admin/desk/rails/{RAIL}/stop/", stop)

        (stopped,) = of_ach(now=FREEZE)

        assert (stopped.tone, stopped.text) == ("bad", f"Rail {RAIL}: no file is sent.")
        assert stopped.href == f"/admin/desk/rails/{RAIL}/"


class TestPage:
    def test_shows_batches_and_history(self, desk, file, django_assert_max_num_queries):
        with django_assert_max_num_queries(20):
            content = shown(desk, address(file))

        for text in ("$42.02", "CCD 225", file.sha256, "Entries were put into it", "Built"):
            assert text in content

    def test_names_who_did_what(self, desk, kim, file):
        release(desk, file)

        content = shown(kim, address(file))

        assert "sam@ballast.example" in content
        assert "usr_" not in content.replace('href="', "")

    @pytest.mark.parametrize("file_id", ["ofl_unknown", "%00", "x" * 300])
    @pytest.mark.parametrize("part", ["", "release/", "hold/", "batches/1/"])
    def test_of_a_file_that_is_not_there(self, desk, bank, file_id, part):
        assert desk.get(f"{LIST}{file_id}/{part}").status_code == 404

    def test_of_a_step_that_is_not_there(self, desk, file):
        assert desk.get(address(file, "explode/")).status_code == 404

    def test_of_a_batch_shows_masked_entries(self, desk, file):
        content = shown(desk, address(file, "batches/1/"))

        assert "··5544" in content
        assert NUMBER not in content
        assert desk.get(address(file, "batches/9/")).status_code == 404

    @pytest.mark.parametrize("after", ["x", "-1", "9" * 30, "%00", "%D9%A1"])
    def test_of_a_batch_refuses_a_page_that_is_not_there(self, desk, file, after):
        assert desk.get(address(file, f"batches/1/?after={after}")).status_code == 404

    def test_says_of_a_batch_where_its_file_is(self, desk, file, tmp_path):
        assert "In a file" in shown(desk, address(file))

        life.release(file, FREEZE)
        send_next(RAIL, Folder(tmp_path), now=FREEZE)

        assert "In a file" not in shown(desk, address(file))

    def test_says_of_a_batch_that_its_file_was_taken_apart(self, desk, file):
        desk.post(address(file, "take-apart/"), {"reason": REASON})

        (line,) = lines.batch_lines(OutFile.objects.get())
        assert line.words == "Taken apart"

    def test_of_a_batch_goes_on_after_fifty(self, desk, bank):
        take_some(51)
        file = built()

        first = shown(desk, address(file, "batches/1/"))
        (after,) = re.findall(r'href="\?after=(\d+)"', first)
        second = shown(desk, address(file, f"batches/1/?after={after}"))

        assert (first.count("$12.34"), second.count("$12.34")) == (50, 1)
        assert "after=" not in second


class TestRelease:
    def test_takes_two_people_of_whom_the_second_types_the_total(self, desk, kim, sam, file):
        release(desk, file)
        assert status_of(file) == "built"

        release(kim, file, "42.02")

        assert status_of(file) == "released"
        events = AuditEvent.objects.filter(action__startswith="ach_file.released")
        assert [event.actor_id for event in events.order_by("created_at")] == [
            sam.pk,
            User.objects.get(email="kim@ballast.example").pk,
        ]

    def test_is_not_twice_the_same_persons(self, desk, file):
        release(desk, file)

        content = shown(desk, address(file, "release/"))
        release(desk, file, "42.02")

        assert "somebody else does this" in content
        assert status_of(file) == "built"

    def test_is_not_the_builders(self, desk, kim, sam, bank):
        take_some(1)
        file = built(by=sam.pk)

        release(desk, file)
        assert OutFile.objects.get().first_released_by == ""
        release(kim, file)
        release(desk, file, "12.34")

        assert status_of(file) == "built"
        assert "Release</a>" not in shown(desk, address(file))

    def test_stays_one_persons_under_another_address(self, desk, sam, file):
        release(desk, file)
        User.objects.filter(pk=sam.pk).update(email="sammy@ballast.example")

        release(desk, file, "42.02")

        assert status_of(file) == "built"

    @pytest.mark.parametrize(
        "total", ["42.03", "0", "", "42.02.02", "$ 42", "NaN", "1e3", "-42.02"]
    )
    def test_needs_the_total(self, desk, kim, file, total):
        release(desk, file)

        release(kim, file, total)

        assert status_of(file) == "built"

    def test_does_not_show_the_second_person_the_total(self, desk, kim, file):
        release(desk, file)

        assert "42.02" not in shown(kim, address(file, "release/"))

    def test_by_two_who_both_think_they_are_first_goes_nowhere(self, desk, kim, file):
        release(desk, file)
        content = html.unescape(release(kim, file))

        assert status_of(file) == "built"
        assert "Somebody made the first release just now. Yours is the second." in content
        assert "Fill in this field" not in content

    def test_counts_one_entry_as_one(self, desk, kim, bank):
        take_some(1)
        file = built()
        release(desk, file)

        assert "has 1 entry in 1 batch." in shown(kim, address(file, "release/"))

    def test_of_a_file_that_is_held_is_refused(self, desk, kim, file):
        release(desk, file)
        kim.post(address(file, "hold/"), {"reason": REASON})

        release(kim, file, "42.02")

        assert status_of(file) == "held"


class TestSteps:
    def test_hold_and_release_the_hold(self, desk, file):
        desk.post(address(file, "hold/"), {"reason": REASON})
        assert f"Held: {REASON}" in shown(desk, address(file))

        desk.post(address(file, "unhold/"), {"reason": "It was right after all"})

        assert status_of(file) == "built"
        notes = AuditEvent.objects.filter(action__in=["ach_file.held", "ach_file.unheld"])
        assert set(notes.values_list("staff_note", flat=True)) == {REASON, "It was right after all"}

    def test_a_hold_voids_the_first_release(self, desk, file):
        release(desk, file)
        desk.post(address(file, "hold/"), {"reason": REASON})
        desk.post(address(file, "unhold/"), {"reason": REASON})

        assert OutFile.objects.get().first_released_by == ""

    def test_take_apart(self, desk, file):
        desk.post(address(file, "take-apart/"), {"reason": REASON})

        assert status_of(file) == "withdrawn"
        assert set(AchEntry.objects.values_list("status", flat=True)) == {"waiting"}
        assert REASON in shown(desk, address(file))

    def test_build_again_is_for_faults(self, desk, file):
        desk.post(address(file, "hold/"), {"reason": REASON})

        answer = desk.post(address(file, "build-again/"), {"reason": REASON})

        assert "It has no faults." in answer.content.decode()
        assert status_of(file) == "held"

    def test_build_again_after_faults(self, desk, bank):
        (entry,) = take_some(1)
        good = entry.account_token
        AchEntry.objects.filter(pk=entry.pk).update(account_token="damaged")
        (file_id,) = freezing.freeze_due(RAIL, now=FREEZE)
        building.build(file_id, now=FREEZE)
        file = OutFile.objects.get()
        assert "account_unreadable" in shown(desk, address(file))

        assert f"Held: {file}" in shown(desk, "/admin/desk/exceptions/")

        desk.post(address(file, "build-again/"), {"reason": REASON})

        assert status_of(file) == "building"
        assert f"Held: {file}" not in shown(desk, "/admin/desk/exceptions/")
        AchEntry.objects.filter(pk=entry.pk).update(account_token=good)
        assert building.build(file.pk, now=FREEZE)
        desk.post(address(file, "release/"), {})
        file.refresh_from_db()
        assert (file.status, file.first_released_by) == ("built", "")  # nor by who had it built

    @pytest.mark.parametrize("what", ["hold", "unhold", "build-again", "take-apart"])
    def test_need_a_reason(self, desk, file, what):
        before = status_of(file)

        desk.post(address(file, f"{what}/"), {"reason": ""})

        assert status_of(file) == before
        assert not AuditEvent.objects.filter(action__startswith="ach_file.").exists()

    @pytest.mark.parametrize("what", ["unhold", "build-again"])
    def test_that_are_not_possible_leave_no_trace(self, desk, file, what):
        answer = desk.post(address(file, f"{what}/"), {"reason": REASON})

        assert "It is to be released." in answer.content.decode()
        assert not AuditEvent.objects.filter(action__startswith="ach_file.").exists()


class TestStuck:
    """A file that a worker could not send, for a reason that does not pass."""

    @pytest.fixture
    def stuck(self, file):
        OutFile.objects.filter(pk=file.pk).update(
            status="released",
            released_at=FREEZE,
            released_how="rule",
            stuck_code="host_key_wrong",
            stuck_at=FREEZE,
        )
        return file

    def test_says_what_to_do_there_and_among_the_exceptions(self, desk, stuck):
        assert "Send nothing. Call the bank" in shown(desk, address(stuck))
        listed = shown(desk, "/admin/desk/exceptions/")
        assert f"Not sent: {stuck.remote_name}, host_key_wrong" in listed
        assert "Mend the cause, then try again" in listed
        assert any("Exceptions to decide: 1" in line.text for line in of_ach(now=FREEZE))

    def test_is_tried_again_when_a_person_says_so(self, desk, stuck):
        desk.post(address(stuck, "try-again/"), {"reason": "Two of us entered the new key"})

        file = OutFile.objects.get()
        assert (file.stuck_code, file.next_attempt_at is None) == ("", False)
        event = AuditEvent.objects.get(action="ach_file.tried_again")
        assert (event.details["code"], event.staff_note) == (
            "host_key_wrong",
            "Two of us entered the new key",
        )
        assert "Not sent:" not in shown(desk, "/admin/desk/exceptions/")

    def test_that_the_bank_has_is_sent(self, desk, kim, stuck):
        OutFile.objects.update(temporary_name="a.tmp", stuck_code="delivery_unknown")
        assert "Ask the bank whether it has the file" in shown(desk, "/admin/desk/exceptions/")

        desk.post(address(stuck, "at-bank/"), {"reason": "Their ACH desk reads its sha256 to me"})
        approve(kim)

        assert status_of(stuck) == "sent"
        assert AuditEvent.objects.filter(action="ach_file.at_bank").count() == 1

    def test_that_the_bank_does_not_have_is_sent_again(self, desk, kim, stuck):
        OutFile.objects.update(temporary_name="a.tmp", stuck_code="delivery_unknown")

        desk.post(address(stuck, "not-at-bank/"), {"reason": "Their ACH desk says so"})
        approve(kim)

        file = OutFile.objects.get()
        assert (file.temporary_name, file.stuck_code, file.status) == ("", "", "released")
        assert file.next_attempt_at is not None

    @pytest.mark.parametrize("what", ["try-again", "at-bank", "not-at-bank"])
    def test_offers_nothing_where_nothing_is_wrong(self, desk, file, what):
        desk.post(address(file, f"{what}/"), {"reason": REASON})

        assert status_of(file) == "built"
        assert not AuditEvent.objects.filter(action__startswith="ach_file.").exists()


class TestDownload:
    def test_is_what_was_built_but_for_account_numbers(self, desk, file):
        answer = desk.post(address(file, "download/"))
        content = b"".join(answer.streaming_content)

        whole = b"".join(sealing.opened(file.pk))
        assert NUMBER.encode() in whole
        assert NUMBER.encode() not in content
        assert content == whole.replace(NUMBER.encode(), b"********5544").replace(
            b"1000200", b"***0200"
        )
        assert "no-store" in answer["Cache-Control"]
        assert AuditEvent.objects.get(action="ach_file.downloaded").subject_id == file.pk

    def test_is_not_for_who_only_looks(self, staff_with, file):
        browser = staff_with("ach.view_outfile")

        assert browser.get(address(file)).status_code == 200
        assert browser.post(address(file, "download/")).status_code == 403
        assert "Download" not in shown(browser, address(file))

    def test_is_no_link(self, desk, file):
        assert desk.get(address(file, "download/")).status_code == 405


MATRIX = {
    "release/": "ach.release_outfile",
    "hold/": "ach.hold_outfile",
    "unhold/": "ach.hold_outfile",
    "build-again/": "ach.hold_outfile",
    "take-apart/": "ach.hold_outfile",
}


class TestPermissions:
    @pytest.mark.parametrize("part", MATRIX)
    def test_each_step_needs_its_own(self, staff_with, file, part):
        others = {"ach.view_outfile", *MATRIX.values()} - {MATRIX[part]}
        browser = staff_with(*others)

        assert browser.get(address(file, part)).status_code == 403
        assert browser.post(address(file, part), {"reason": REASON}).status_code == 403
        assert status_of(file) == "built"

    @pytest.mark.parametrize("part", MATRIX)
    def test_is_enough(self, staff_with, file, part):
        browser = staff_with("ach.view_outfile", MATRIX[part])

        assert browser.get(address(file, part)).status_code == 200

    def test_of_others_open_nothing(self, staff_with, file):
        browser = staff_with("tenants.view_tenant")

        for path in (LIST, address(file), address(file, "batches/1/")):
            assert browser.get(path).status_code == 403


class TestWhoWasHereAWhileAgo:
    """Signed in, but not a moment ago."""

    @pytest.fixture
    def session(self, db):
        return browser_of(make_staff("sam@ballast.example", password="long ago"), minutes_ago=11)

    @pytest.mark.parametrize("what", ["hold", "take-apart", "at-bank", "not-at-bank"])
    def test_says_again_who_it_is(self, session, file, what):
        response = session.post(address(file, f"{what}/"), {"reason": REASON})

        assert b"Confirm it is you" in response.content
        assert not AuditEvent.objects.filter(subject_id=file.pk).exists()
