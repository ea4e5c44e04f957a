"""An entry that was wrong is taken back by two people."""

from __future__ import annotations

import pytest
import time_machine

from networks.ach.models import AchEntry, AchReversal
from tenants.models import AuditEvent, User
from tests.builders import browser_of, make_staff
from tests.networks.ach.inbound.builders import NOW, make_batch, make_entry, make_rail

REASON = "The tenant was charged twice"


@pytest.fixture(autouse=True)
def _at_the_time():
    with time_machine.travel(NOW, tick=True):
        yield


@pytest.fixture
def entry(db):
    return make_entry(make_batch(make_rail(active=True)))


@pytest.fixture
def kim(db):
    return browser_of(make_staff("kim@ballast.example"))


def page(entry):
    return f"/admin/desk/entries/{entry.instruction_id}/"


def propose(browser, entry, **changes):
    typed = {"why": "duplicate", "hours": "1", "reason": REASON, **changes}
    return browser.post(f"{page(entry)}reverse/", typed)


def decide(browser, decision="approve"):
    return browser.post(
        f"/admin/desk/reversals/{AchReversal.objects.get().pk}/", {"decision": decision}
    )


def test_one_proposes_and_another_approves(desk, kim, entry):
    assert "reverse/" in desk.get(page(entry)).content.decode()
    propose(desk, entry)
    assert "reverse/" not in desk.get(page(entry)).content.decode()
    assert "Reversal: Sent twice" in kim.get("/admin/desk/exceptions/").content.decode()

    decide(kim)

    reversal = AchReversal.objects.get()
    sent = AchEntry.objects.get(instruction_id=reversal.pk)
    assert (reversal.status, sent.is_debit, sent.amount) == ("approved", False, entry.amount)
    events = AuditEvent.objects.filter(action__startswith="ach_reversal.").order_by("created_at")
    assert [event.action for event in events] == ["ach_reversal.proposed", "ach_reversal.approved"]
    assert events[0].actor_id != events[1].actor_id
    content = desk.get(page(entry)).content.decode()
    assert REASON in content
    assert "kim@ballast.example" in content


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_nobody_decides_about_their_own(desk, sam, entry, decision):
    propose(desk, entry)
    User.objects.filter(pk=sam.pk).update(email="sammy@ballast.example")

    decide(desk, decision)

    assert AchReversal.objects.get().status == "proposed"
    assert AuditEvent.objects.filter(action__startswith="ach_reversal.").count() == 1


def test_another_may_reject(desk, kim, entry):
    propose(desk, entry)

    decide(kim, "reject")

    assert AchReversal.objects.get().status == "rejected"
    assert AchEntry.objects.count() == 1


@pytest.mark.parametrize(
    "changes",
    [{"why": ""}, {"why": "regret"}, {"hours": "25"}, {"hours": "-1"}, {"reason": ""}],
    ids=str,
)
def test_needs_one_of_five_reasons_and_a_day(desk, entry, changes):
    propose(desk, entry, **changes)

    assert not AchReversal.objects.exists()


def test_is_proposed_once(desk, entry):
    propose(desk, entry)

    answer = propose(desk, entry)

    assert "There is a reversal of this entry already." in answer.content.decode()
    assert AchReversal.objects.count() == 1


@pytest.mark.parametrize("name", ["rvs_unknown", "%00", "'"])
def test_of_what_is_not_there(desk, db, name):
    assert desk.get(f"/admin/desk/reversals/{name}/").status_code == 404


@pytest.mark.parametrize("permission", ["propose", "approve"])
def test_each_step_needs_its_permission(desk, staff_with, entry, permission):
    propose(desk, entry)
    browser = staff_with("ach.view_achentry", f"ach.{permission}_achreversal")

    answers = [
        browser.get(f"{page(entry)}reverse/").status_code,
        browser.get(f"/admin/desk/reversals/{AchReversal.objects.get().pk}/").status_code,
    ]

    assert answers == ([200, 403] if permission == "propose" else [403, 200])
