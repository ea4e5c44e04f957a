"""The desk's pages of rails, files, entries and exceptions: readable, silent, never too wide."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
import time_machine

from common.clock import utc_now
from desk import doers
from desk.rails import acts
from networks.ach import building, freezing, rails, releasing, schedule, spoken
from networks.ach.acknowledgments import Verdict
from networks.ach.models import AchEntry, InRecord, OutFile
from networks.ach.models.rails import RailPart
from networks.ach.sending import send_next
from networks.ach.spoken import Said
from networks.ach.terms import RailTerms
from networks.base import Method
from tenants import actors
from tests.browser.conftest import DESK, PHONE, in_every_look
from tests.browser.test_desk import CUT_OFF, NOT_OURS
from tests.builders import make_staff
from tests.networks.ach import builders as ours
from tests.networks.ach import life
from tests.networks.ach.folder import Folder
from tests.networks.ach.inbound import builders as theirs

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(600),
]


@pytest.fixture
def sam(transactional_db):
    return make_staff("sam@ballast.example")


@pytest.fixture
def kim(transactional_db):
    return make_staff("kim@ballast.example")


@pytest.fixture
def built(acme, kim):
    """A rail with a change to decide and a stop, and files that wait for people."""
    ours.make_rail()
    ours.make_originator()
    doer, now = doers.person(actors.staff(kim.pk)), utc_now()
    terms = rails.current(ours.RAIL).parsed
    acts.propose(
        rail=ours.RAIL,
        terms=RailTerms.parse({**terms.as_json(), "lead": 1800}),
        offset_account=None,
        reason="The bank asked for more time before its cut-offs",
        doer=doer,
        now=now,
    )
    frozen = schedule.next_window(terms, now).frozen_from
    before = frozen - timedelta(hours=1)
    ours.take(ours.instruction(amount=123_456_789, tenant_id=acme.pk), now=before)
    ours.take_some(3, now=before, method=Method.ACH_CREDIT, amount=250_000_00)
    (file_id,) = freezing.freeze_due(ours.RAIL, now=frozen)
    building.build(file_id, now=frozen)
    releasing.release_first(file_id, by=kim.pk, now=frozen)
    ours.take_some(2, now=before)
    acts.engage(rail=ours.RAIL, part=RailPart.SENDING, reason="The bank moves", doer=doer, now=now)
    return OutFile.objects.get(pk=file_id)


@pytest.fixture
def returned(transactional_db):
    """A return that is a cent short, a late one, a change, and a file that was set aside."""
    with time_machine.travel(theirs.NOW, tick=True):
        batch = theirs.make_batch(theirs.make_rail(apply_changes=False))
        short, changed = theirs.make_entry(batch), theirs.make_entry(batch, 3)
        late = theirs.make_entry(batch, 2, settled=date(2026, 11, 20), status="final")
        records = [*theirs.returned(short, amount=149_99), *theirs.returned(late, "R02")]
        theirs.take(theirs.answer_file(theirs.answer_batch(*records)))
        theirs.take(theirs.answer_file(theirs.change_batch(*theirs.changed(changed))))
        return theirs.take(["nothing of a file"])


@pytest.fixture
def answer(kim, tmp_path):
    """Of a bank that has acknowledged nothing: what kim wrote down of a call."""
    ours.make_rail()
    ours.make_originator()
    (file,) = ours.make_files(2)
    life.release(file, ours.FREEZE)
    send_next(ours.RAIL, Folder(tmp_path), now=ours.FREEZE)
    OutFile.objects.update(acknowledgment_due_at=utc_now() - timedelta(hours=1))
    said = Said(
        verdict=Verdict.PART_REJECTED,
        said_by="Rosa Luxemburg-Liebknecht, ACH operations, 212 555 0100",
        code="batch_hash_that_the_bank_does_not_expect",
        batches=[1],
    )
    why = "Nothing came by noon, and their system has been down since nine in the morning"
    return spoken.propose(file.pk, said=said, reason=why, by=kim.pk, now=utc_now())


def wrong_of(visitor, paths):
    """What is wrong with the pages, by their paths."""
    wrong = {}
    for path in paths:
        visitor.goto(path)
        barriers = [found for found in visitor.barriers() if not found.startswith(NOT_OURS)]
        found = [*barriers, *visitor.complaints]
        if (overflow := visitor.sideways_scroll()) > 0:
            found.append(f"{overflow} px too wide")
        found += visitor.page.evaluate(CUT_OFF)
        if found:
            wrong[path] = found
        visitor.complaints.clear()

    return wrong


@in_every_look
def test_nothing_is_wrong_with_ach(visit, sam, built, returned, scheme, viewport):
    visitor = visit(sam, scheme=scheme, viewport=viewport)
    rail, file = f"/admin/desk/rails/{ours.RAIL}/", f"/admin/desk/files/{built.pk}/"
    entry = AchEntry.objects.get(amount=123_456_789).instruction_id
    paths = (
        "/admin/",
        "/admin/desk/rails/",
        rail,
        f"{rail}change/",
        f"{rail}versions/2/decide/",
        f"{rail}stop/",
        f"{rail}originators/new/",
        "/admin/desk/files/",
        file,
        f"{file}release/",
        f"{file}batches/1/",
        f"{file}take-apart/",
        f"/admin/desk/entries/{entry}/",
        f"/admin/desk/entries/{entry}/take-out/",
        "/admin/desk/entries/?q=nothing",
        "/admin/desk/exceptions/",
        *(f"/admin/desk/exceptions/records/{row.pk}/" for row in InRecord.objects.all()),
        f"/admin/desk/exceptions/records/{InRecord.objects.earliest('pk').pk}/match/",
        f"/admin/desk/exceptions/files/{returned.pk}/",
    )

    assert wrong_of(visitor, paths) == {}


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_nothing_is_wrong_with_answers_by_telephone(visit, sam, kim, answer, viewport):
    file, decision = f"/admin/desk/files/{answer.file_id}/", f"/admin/desk/answers/{answer.pk}/"
    pages = (file, f"{file}answer/", decision, "/admin/desk/exceptions/")

    for person in (sam, kim):
        assert wrong_of(visit(person, viewport=viewport), pages) == {}


def test_two_people_release_a_file_by_the_keyboard(visit, sam, built):
    visitor = visit(sam)
    visitor.goto(f"/admin/desk/files/{built.pk}/")

    release = visitor.page.get_by_role("link", name="Release")
    release.focus()
    visitor.page.keyboard.press("Enter")
    visitor.page.get_by_label("Total of debits and credits").fill("1,984,567.89")
    visitor.page.keyboard.press("Enter")

    visitor.page.get_by_text("Released. A worker sends it now.").wait_for()
    built.refresh_from_db()
    assert (built.status, built.released_by) == ("released", sam.pk)
    assert visitor.complaints == []


def test_a_second_person_confirms_an_answer_by_the_keyboard(visit, sam, answer):
    visitor = visit(sam)
    visitor.goto("/admin/desk/exceptions/")
    visitor.page.get_by_role("link", name="Answer by telephone").focus()
    visitor.page.keyboard.press("Enter")

    visitor.page.get_by_role("button", name="Confirm: the bank said so").focus()
    visitor.page.keyboard.press("Enter")

    visitor.page.get_by_text("Confirmed: it is the bank's answer.").wait_for()
    answer.refresh_from_db()
    assert (answer.status, answer.decided_by) == ("confirmed", sam.pk)
    assert visitor.complaints == []
