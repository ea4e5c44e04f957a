"""Notes on what staff work on, and who works on it: kept for good, for staff alone (decision
0210)."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from datetime import timedelta

import pytest
import time_machine
from django.db import DatabaseError, connection, transaction

from common.clock import utc_now
from common.database import doors
from common.ids import new
from desk.doers import person
from desk.home.attention import of_reader
from desk.items import assigning, notes, people, subjects
from desk.items.assigning import AssignedMeanwhile, CannotWorkOnIt
from desk.items.forms import NoteForm
from desk.items.subjects import found, subject_of
from desk.models import Assignment, ItemKind, ItemNote
from funding.deposit_transfer import DEPOSIT_ENTRIES
from funding.transfer import FUNDING
from networks.ach.models import AchProposal, AchReversal, InFile, InRecord, Originator, OutFile
from networks.base import EventKind
from tenants import actors
from tenants.actors import SYSTEM
from tenants.models import AuditEvent
from tenants.services import staff
from tests.builders import browser_of, make_funding, make_source, make_staff
from tests.database import owner
from tests.desk.exceptions import LIST, address, decide, shown
from tests.funding.builders import top_up
from tests.networks.ach.inbound.builders import (
    NOW,
    answer_batch,
    answer_file,
    make_batch,
    make_entry,
    make_rail,
    returned,
    take,
)
from tests.networks.scripted import ScriptedNetwork
from tests.networks.scripted import message as message_about
from transfers import submission
from transfers.inbox import arrivals, judging, messages, reviews, settlements
from transfers.inbox.models import BankOutcome, InboundEvent, InboundOutcome

HOSTILE = '<script>alert(1)</script> {{ "x" }} \' OR 1=1 --'
WORKS = ("desk.view_itemnote", "desk.add_itemnote", "desk.add_assignment", "ach.view_inrecord")


@pytest.fixture(autouse=True)
def _at_the_time():
    with time_machine.travel(NOW, tick=True):
        yield


@pytest.fixture
def batch(db):
    return make_batch(make_rail())


@pytest.fixture
def record(batch):
    """A return that is one cent short."""
    return open_record(make_entry(batch))


def open_record(entry):
    take(answer_file(answer_batch(*returned(entry, amount=149_99))))
    return InRecord.objects.latest("pk")


@pytest.fixture
def lee(db):
    return make_staff("lee@ballast.example", WORKS)


@pytest.fixture
def transfer(acme):
    return make_funding(acme, make_source(acme))


@pytest.fixture
def message(transfer):
    """What the network said of a funding that nobody had submitted."""
    event = message_about(transfer, EventKind.ACCEPTED)
    arrivals.collect(network=ScriptedNetwork(event), id_prefix="ftx_", now=NOW)
    messages.apply_new(FUNDING, now=NOW + judging.WAITS_AT_MOST)
    return InboundEvent.objects.get(outcome=InboundOutcome.REVIEW)


@pytest.fixture
def settlement(acme, sam):
    funding = top_up(acme)
    submission.submit_due(FUNDING, now=NOW)
    return settlements.propose(
        subject_id=funding.pk,
        kind=BankOutcome.SETTLED,
        amount=funding.amount,
        bank_reference="FED-77",
        code="",
        reason="On the statement of Friday",
        actor=actors.staff(sam.pk),
        now=NOW,
    )


def item(row):
    return found(subject_of(row))


def give(row, to, *, by, seen=0):
    assigning.assign(item(row), to=to, seen=seen, doer=doer(by), now=utc_now())


def doer(user):
    return person(actors.staff(user.pk))


def path(row, what):
    subject = subject_of(row)
    return f"/admin/desk/items/{subject.kind}/{subject.id}/{what}"


def note(browser, row, text, token=None):
    form = {"text": text, "token": token or token_for(row)}
    return browser.post(path(row, "note/"), form, follow=True)


def token_for(row):
    """As the page of the item has it."""
    return NoteForm(subject=subject_of(row)).initial["token"]


def assign(browser, row, to="", seen=0):
    answer = browser.post(path(row, "assign/"), {"to": to, "seen": seen}, follow=True)
    return html.unescape(answer.content.decode())


class TestNote:
    def test_is_shown_on_the_page_of_its_item_with_who_and_when(self, desk, sam, record):
        with time_machine.travel(NOW, tick=False):
            note(desk, record, "Called First Bank.\nThey look into it.")

        page = shown(desk, address(record))
        assert "Called First Bank.\nThey look into it." in page
        assert "sam@ballast.example" in page
        (row,) = ItemNote.objects.all()
        assert (row.kind, row.subject_id, row.created_by_id) == ("record", str(record.pk), sam.pk)
        assert row.created_at == NOW

    def test_is_shown_above_older_ones_and_counted_on_the_list(self, desk, record):
        for text in ("The first word", "The second word"):
            note(desk, record, text)

        page = shown(desk, address(record))
        assert page.index("The second word") < page.index("The first word")
        assert 'data-label="Notes">2</td>' in shown(desk)

    def test_is_audited_without_its_text_and_among_staff(self, desk, sam, transfer):
        note(desk, transfer, "They ran out of luck")

        line = AuditEvent.objects.get(action="item.noted")
        assert line.tenant is None
        assert (line.actor_id, line.subject_id) == (sam.pk, transfer.pk)
        assert line.details == {"item": "funding", "noteId": ItemNote.objects.get().pk}
        assert line.staff_note == ""

    @pytest.mark.parametrize("text", [HOSTILE, "{% load x %}", "Zahlung über 5 € – 銀行"])
    def test_is_shown_as_it_was_typed(self, desk, record, text):
        note(desk, record, text)

        content = desk.get(address(record)).content.decode()
        assert ItemNote.objects.get().text == text
        assert text in html.unescape(content)
        assert "<script>alert(1)" not in content

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", "required"),
            ("   \n ", "required"),
            ("x" * 2_001, "at most 2000 characters"),
            ("a\x00b", "ull"),
            ("a\u202eb", "cannot be seen"),
        ],
    )
    def test_that_cannot_be_kept_is_shown_again_with_what_is_wrong(self, desk, record, text, said):
        answer = note(desk, record, text)

        assert answer.status_code == 200
        assert said in html.unescape(answer.content.decode())
        assert not ItemNote.objects.exists()

    def test_of_a_double_click_is_kept_once(self, desk, record):
        token = token_for(record)
        for _ in range(2):
            answer = note(desk, record, "Called them", token)
            assert "The note is stored." in answer.content.decode()

        assert ItemNote.objects.count() == 1
        assert AuditEvent.objects.filter(action="item.noted").count() == 1

    def test_typed_into_a_form_that_stored_another_one_is_not_lost(self, desk, record):
        token = token_for(record)
        note(desk, record, "Called them", token)
        answer = note(desk, record, "They call back", token).content.decode()
        (fresh,) = re.findall(r'name="token" value="([^"]+)"', answer)

        assert "This form stored another note before" in answer
        assert ItemNote.objects.get().text == "Called them"
        note(desk, record, "They call back", fresh)
        assert ItemNote.objects.count() == 2

    def test_needs_the_token_of_its_item(self, desk, record, transfer):
        answer = note(desk, record, "Called them", token_for(transfer))

        assert "This form has expired" in answer.content.decode()
        assert not ItemNote.objects.exists()

    def test_may_have_two_thousand_characters(self, desk, record):
        note(desk, record, "x" * 2_000)

        assert len(ItemNote.objects.get().text) == 2_000

    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE desk_itemnote SET text = 'x'",
            "DELETE FROM desk_itemnote",
            "TRUNCATE desk_itemnote",
            "UPDATE desk_assignment SET assignee_id = NULL",
            "DELETE FROM desk_assignment",
            "TRUNCATE desk_assignment",
        ],
    )
    def test_stays_even_for_the_owner_of_the_table(self, desk, sam, record, statement):
        note(desk, record, "Called them")
        assign(desk, record, "me")

        refused = pytest.raises(DatabaseError, match="pgtrigger: Cannot")
        with owner.as_owner(), refused, transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute(statement)

    def test_has_a_page_of_all_fifty_at_a_time(self, desk, sam, record):
        for number in range(51):
            notes.write(
                item(record), id=new("nte"), text=f"Word {number:02}", doer=doer(sam), now=utc_now()
            )

        own, first = shown(desk, address(record)), shown(desk, path(record, ""))
        oldest = notes.of_item(subject_of(record)).earliest("created_at", "pk")
        last = notes.of_item(subject_of(record)).order_by("created_at", "pk")[1]
        older = shown(desk, path(record, f"?before={last.pk}"))

        assert own.count('class="desk-note"') == 10
        assert "All 51 notes" in own
        assert first.count('class="desk-note"') == 50
        assert "Older" in first
        assert older.count('class="desk-note"') == 1
        assert oldest.text in older


class TestAssignment:
    def test_is_taken_and_released(self, desk, sam, record):
        assert "It is yours." in assign(desk, record, "me")
        assert "Assigned to <strong>you</strong>" in shown(desk, address(record))

        assert "It is nobody's now." in assign(desk, record, "", seen=1)
        assert "Unassigned" in shown(desk, address(record))
        assert list(Assignment.objects.order_by("number").values_list("number", "assignee")) == [
            (1, sam.pk),
            (2, None),
        ]

    def test_is_given_to_somebody_who_can_work_on_it(self, desk, record, lee):
        assert "It is given." in assign(desk, record, lee.email)

        assert "lee@ballast.example" in shown(desk)
        line = AuditEvent.objects.get(action="item.given")
        assert line.details == {
            "item": "record from a bank",
            "to": lee.pk,
            "email": "lee@ballast.example",
        }

    def test_is_given_to_nobody_who_cannot(self, desk, sam, record, dana):
        viewer = make_staff("vic@ballast.example", ["desk.view_itemnote", "ach.view_inrecord"])
        blind = make_staff("bo@ballast.example", ["desk.add_assignment"])

        for who in (
            viewer.email,
            blind.email,
            dana.email,
            viewer.pk,
            "nobody@x.example",
            "\0",
            sam.pk,
        ):
            assign(desk, record, who)

        assert not Assignment.objects.exists()

    def test_says_who_was_faster(self, desk, kim, sam, record):
        assign(desk, record, "me")

        content = assign(kim, record, "me", seen=0)

        assert "sam@ballast.example has had it since" in content
        assert assigning.current([subject_of(record)])[subject_of(record)].assignee == sam

    def test_says_that_it_was_released_meanwhile(self, desk, sam, lee, record):
        assign(desk, record, "me")
        assign(desk, record, "", seen=1)

        with pytest.raises(AssignedMeanwhile, match="released it meanwhile"):
            give(record, lee.pk, by=sam, seen=1)

    def test_that_was_asked_for_twice_is_one(self, desk, sam, record):
        assign(desk, record, "me")
        assert "It is yours." in assign(desk, record, "me")

        assert Assignment.objects.count() == 1
        assert AuditEvent.objects.filter(action="item.taken").count() == 1

    @pytest.mark.parametrize("seen", ["", "-1", "x", "2147483648", "7"])
    def test_is_refused_for_a_number_that_is_none(self, desk, sam, record, seen):
        assign(desk, record, "me", seen=seen)

        assert not Assignment.objects.exists()

    def test_of_who_left_reads_as_nobodys(self, desk, lee, sam, record):
        assign(desk, record, lee.email)
        assert shown(desk, f"{LIST}?whose=unassigned").count("/exceptions/records/") == 0

        staff.end(user_id=lee.pk, actor=SYSTEM, now=utc_now())

        assert "Unassigned (lee@ballast.example had it)" in shown(desk)
        assert shown(desk, f"{LIST}?whose=unassigned").count("/exceptions/records/") == 1
        assert "lee@ballast.example had it, and works on items no more" in shown(
            desk, address(record)
        )
        assert "It is yours." in assign(desk, record, "me", seen=1)

    def test_has_its_history_on_a_page(self, desk, sam, lee, record):
        assign(desk, record, "me")
        assign(desk, record, lee.email, seen=1)
        assign(desk, record, "", seen=2)

        page = shown(desk, path(record, ""))
        said = [
            "sam@ballast.example released it",
            "sam@ballast.example gave it to lee@ballast.example",
            "sam@ballast.example took it",
        ]
        places = [page.find(words) for words in said]
        assert places == sorted(places)
        assert -1 not in places

    def test_takes_a_power_that_opens_the_page(self, sam, record, lee):
        with pytest.raises(CannotWorkOnIt):
            give(record, make_staff("bo@ballast.example", ["desk.add_assignment"]).pk, by=sam)
        give(record, lee.pk, by=sam)

        assert (
            assigning.whose(assigning.current([subject_of(record)])[subject_of(record)]) == lee.pk
        )


class TestList:
    @pytest.fixture
    def two(self, batch, record):
        return record, open_record(make_entry(batch, 2))

    def test_shows_ones_own_nobodys_and_all(self, desk, sam, kim, two):
        mine, other = two
        assign(desk, mine, "me")

        lists = {
            whose: shown(desk, f"{LIST}?whose={whose}") for whose in ("", "mine", "unassigned")
        }
        seen = {
            whose: [f"records/{row.pk}/" in content for row in (mine, other)]
            for whose, content in lists.items()
        }

        assert seen == {"": [True, True], "mine": [True, False], "unassigned": [False, True]}
        assert "<strong>You</strong>" in lists["mine"]
        assert "Nothing is assigned to you" in shown(kim, f"{LIST}?whose=mine")

    def test_narrows_every_kind(self, desk, sam, kim, batch, record):
        """Whatever the list shows can be taken, is then in one's own list, and not in nobody's."""
        OutFile.objects.filter(pk=batch.file_id).update(
            acknowledgment_due_at=NOW - timedelta(hours=1)
        )
        Originator.objects.update(debits_stopped_at=NOW, debits_stopped_why="3 of 200 came back")
        make_entry(batch, 3, final_due_at=NOW - timedelta(minutes=16))
        take(["nothing of a file"])
        kinds = set()
        rows = [record, batch.file, Originator.objects.get(), batch.file.rail]
        rows.append(InFile.objects.get(status="review"))
        all_of_them = shown(desk)
        before = shown(desk, f"{LIST}?whose=unassigned")
        assert before.count("<tr>") == all_of_them.count("<tr>")

        for row in rows:
            kinds.add(subject_of(row).kind)
            assign(desk, row, "me")

        assert kinds == {"record", "file", "originator", "rail", "bank-file"}
        assert shown(desk, f"{LIST}?whose=mine").count("<tr>") == all_of_them.count("<tr>")
        assert "Somebody works on everything" in shown(desk, f"{LIST}?whose=unassigned")

    @pytest.mark.parametrize("whose", ["x", "MINE", "%00", "mine'"])
    def test_knows_no_other(self, desk, db, whose):
        assert desk.get(f"{LIST}?whose={whose}").status_code == 404

    def test_says_how_long_each_is_open(self, record):
        with time_machine.travel(NOW + timedelta(days=3, hours=2, minutes=1), tick=False):
            page = shown(browser_of(make_staff("ann@ballast.example")))

        assert 'data-label="Open for">3 d 2 h</td>' in page

    def test_asks_as_much_for_many_as_for_one(self, desk, sam, two, django_assert_max_num_queries):
        for row in two:
            assign(desk, row, "me")
            note(desk, row, "Called them")

        with django_assert_max_num_queries(26):
            shown(desk)
        with django_assert_max_num_queries(30):
            shown(desk, f"{LIST}?whose=mine")

    def test_of_ones_own_has_fundings_until_they_are_released(self, desk, sam, kim, transfer):
        assign(desk, transfer, "me")

        assert f"/admin/desk/funding/{transfer.pk}/" in shown(desk, f"{LIST}?whose=mine")
        assert transfer.pk not in shown(desk)
        assert transfer.pk not in shown(kim, f"{LIST}?whose=mine")
        assign(desk, transfer, "", seen=1)
        assert transfer.pk not in shown(desk, f"{LIST}?whose=mine")

    @pytest.mark.parametrize("name", ["message", "settlement"])
    def test_of_ones_own_has_what_the_inbox_waits_with(self, desk, sam, kim, request, name):
        row = request.getfixturevalue(name)
        assign(desk, row, "me")

        mine = shown(desk, f"{LIST}?whose=mine")
        assert item(row).href in mine
        assert "$250.00" in mine
        assert "Assigned to you: 1." in shown(desk, "/admin/")
        for other in (shown(desk), shown(kim, f"{LIST}?whose=mine")):
            assert item(row).href not in other

    def test_of_ones_own_hides_amounts_that_nobody_may_see(self, desk, sam, transfer):
        entry = replace(message_about(transfer, EventKind.ACCEPTED), instruction_id=new("vde"))
        arrivals.collect(network=ScriptedNetwork(entry), id_prefix="vde_", now=NOW)
        messages.apply_new(DEPOSIT_ENTRIES, now=NOW + judging.WAITS_AT_MOST)
        message = InboundEvent.objects.get(outcome=InboundOutcome.REVIEW)
        assign(desk, message, "me")

        mine = shown(desk, f"{LIST}?whose=mine")
        assert item(message).href in mine
        assert "$250.00" not in mine

    def test_of_ones_own_has_no_message_that_is_resolved(self, desk, sam, message):
        assign(desk, message, "me")
        reviews.resolve(event_id=message.pk, note="Twice", actor=actors.staff(sam.pk), now=NOW)

        assert item(message).href not in shown(desk, f"{LIST}?whose=mine")


class TestHome:
    def test_counts_what_is_assigned_to_the_reader(self, desk, sam, kim, record, transfer):
        assign(desk, record, "me")
        assign(desk, transfer, "me")

        assert "Assigned to you: 2." in shown(desk, "/admin/")
        assert "Assigned to you" not in shown(kim, "/admin/")

    def test_counts_no_more_what_is_decided(self, desk, sam, record):
        assign(desk, record, "me")
        decide(desk, record, "resolve")

        assert list(of_reader(sam.pk, now=NOW)) == []

    def test_asks_once_for_who_never_took_anything(self, sam, django_assert_num_queries):
        with django_assert_num_queries(1):
            assert list(of_reader(sam.pk, now=NOW)) == []


class TestWho:
    VIEWER = ("desk.view_itemnote", "ach.view_inrecord")

    def test_views_only_reads_and_writes_nothing(self, staff_with, desk, record):
        note(desk, record, "Called them")
        viewer = staff_with(*self.VIEWER)

        page = shown(viewer, address(record))
        assert "Called them" in page
        for words in ("Add note", "Take it", "Give it to"):
            assert words not in page
        assert viewer.get(path(record, "")).status_code == 200
        assert note(viewer, record, "x").status_code == 403
        assert viewer.post(path(record, "assign/"), {"seen": 0}).status_code == 403
        assert ItemNote.objects.count() == 1

    def test_sees_no_notes_without_the_power(self, staff_with, desk, record):
        note(desk, record, "Called them")
        other = staff_with("ach.view_inrecord")

        assert "Called them" not in shown(other, address(record))
        assert other.get(path(record, "")).status_code == 403

    def test_cannot_open_the_page_cannot_read_its_notes_either(self, staff_with, desk, transfer):
        note(desk, transfer, "Called them")
        other = staff_with(*WORKS)

        assert other.get(path(transfer, "")).status_code == 403
        assert note(other, transfer, "x").status_code == 403
        assert other.post(path(transfer, "assign/"), {"seen": 0}).status_code == 403

    @pytest.mark.parametrize(
        "where",
        [
            "record/0",
            "record/x",
            "record/01",
            f"record/{2**63}",
            "record/%00",
            "funding/ftx_x",
            "funding/%00",
            "payment/'",
            "rail/x",
            "nothing/1",
        ],
    )
    def test_finds_no_item_that_is_not_there(self, desk, db, where):
        base = f"/admin/desk/items/{where}/"
        answers = [
            desk.get(base),
            desk.post(f"{base}note/", {"text": "x"}),
            desk.post(f"{base}assign/", {"seen": 0}),
        ]

        assert [answer.status_code for answer in answers] == [404, 404, 404]

    def test_works_here_no_more_is_offered_to_nobody(self, lee, sam):
        assert set(people.able().values()) == {lee.email, sam.email}
        staff.end(user_id=lee.pk, actor=SYSTEM, now=utc_now())
        assert set(people.able().values()) == {sam.email}


class TestEveryKind:
    def test_has_the_panel_on_its_page(self, desk, batch, record, transfer):
        rows = [
            record,
            record.file,
            batch.file,
            batch.file.rail,
            Originator.objects.get(),
            transfer,
        ]

        for row in rows:
            assert path(row, "note/") in shown(desk, item(row).href), subject_of(row)

    @pytest.mark.parametrize("name", ["message", "settlement"])
    def test_has_the_panel_on_its_page_of_the_admin(self, desk, request, name):
        row = request.getfixturevalue(name)

        note(desk, row, "Called them")

        page = shown(desk, item(row).href)
        assert path(row, "assign/") in page
        assert "Called them" in page

    def test_has_no_panel_before_it_is_there(self, desk):
        page = shown(desk, "/admin/network_inbox/handsettlement/add/")

        assert "/desk/items/" not in page

    def test_has_a_model_of_its_own(self):
        models = [subjects._KINDS[kind].model for kind in ItemKind]

        assert len(set(models)) == len(ItemKind)
        assert {AchProposal, AchReversal} < set(models)


class TestTenants:
    """Nothing of it is theirs: no right of the role of requests, no page, no line of their log."""

    WORD = "Xylophone"

    @pytest.fixture
    def noted(self, desk, sam, transfer):
        note(desk, transfer, self.WORD)
        assign(desk, transfer, "me")
        return transfer

    @pytest.mark.parametrize("table", ["desk_itemnote", "desk_assignment"])
    @pytest.mark.parametrize("what", ["SELECT * FROM", "DELETE FROM", "INSERT INTO"])
    def test_are_refused_by_the_database(self, acme, noted, table, what):
        statement = f"{what} {table}" + (" DEFAULT VALUES" if "INSERT" in what else "")
        denied = pytest.raises(DatabaseError, match="permission denied")

        with doors.of_tenant(acme.pk, only_reads=False), denied, transaction.atomic():
            connection.cursor().execute(statement)

    def test_see_nothing_on_pages_in_exports_and_by_search(self, acme, noted, dana, sign_in):
        browser = sign_in(dana)
        for where in (
            "/",
            f"/funding/{noted.pk}/",
            "/audit-log/",
            "/audit-log.csv",
            f"/find/?q={self.WORD}",
            f"/find/?q={noted.pk}",
        ):
            answer = browser.get(where, follow=True)
            content = b"".join(answer).decode()
            assert self.WORD not in content, where
            assert "item." not in content, where

    def test_see_nothing_by_the_api(self, acme_api, noted):
        answer = acme_api.get(f"/api/v1/funding/transactions/{noted.pk}")

        assert self.WORD not in str(answer.json())
        assert not AuditEvent.objects.filter(
            tenant=noted.tenant, action__startswith="item."
        ).exists()
