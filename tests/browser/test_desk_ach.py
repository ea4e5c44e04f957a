"""The desk's pages of rails, files, entries and exceptions: readable, silent, never too wide."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
import time_machine

from common.clock import utc_now
from desk import doers
from desk.rails import acts
from networks.ach import building, freezing, rails, releasing, schedule
from networks.ach.models import AchEntry, InRecord, OutFile
from networks.ach.models.rails import RailPart
from networks.ach.terms import RailTerms
from networks.base import Method
from tenants import actors
from tenants.models import User
from tests.browser.conftest import DESK, PHONE
from tests.browser.test_desk import CUT_OFF, NOT_OURS
from tests.networks.ach import builders as ours
from tests.networks.ach.inbound import builders as theirs

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(600),
]


@pytest.fixture
def sam(transactional_db):
    return User.objects.create_superuser(email="sam@ballast.example")


@pytest.fixture
def kim(transactional_db):
    return User.objects.create_superuser(email="kim@ballast.example")


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


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wrong_with_ach(visit, sam, built, returned, scheme, viewport):
    visitor = visit(sam, scheme=scheme, viewport=viewport)
    rail, file = f"/admin/desk/rails/{ours.RAIL}/", f"/admin/desk/files/{built.pk}/"
    entry = AchEntry.objects.get(amount=123_456_789).instruction_id
    wrong = {}
    for path in (
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
    ):
        visitor.goto(path)
        barriers = [found for found in visitor.barriers() if not found.startswith(NOT_OURS)]
        found = [*barriers, *visitor.complaints]
        if (overflow := visitor.sideways_scroll()) > 0:
            found.append(f"{overflow} px too wide")
        found += visitor.page.evaluate(CUT_OFF)
        if found:
            wrong[path] = found
        visitor.complaints.clear()

    assert wrong == {}


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
