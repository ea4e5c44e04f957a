"""What a bank says by telephone of a file: one person writes it down, another one confirms it."""

from __future__ import annotations

import html
from datetime import timedelta

import pytest
import time_machine

from common.clock import utc_now
from desk.exceptions import lines
from networks.ach import acknowledging
from networks.ach.acknowledgments import Verdict
from networks.ach.models import AchEntry, OutFile, SpokenAnswer
from networks.ach.sending import send_next
from tenants.models import AuditEvent, User
from tests.builders import browser_of, make_staff
from tests.networks.ach import life
from tests.networks.ach.builders import FREEZE, RAIL, make_files, make_originator, make_rail
from tests.networks.ach.folder import Folder

EXCEPTIONS = "/admin/desk/exceptions/"
LATE = FREEZE + timedelta(hours=3)
REASON = "No file came by noon"
REFUSED = {"verdict": "rejected", "code": "file_hash"}


@pytest.fixture(autouse=True)
def _late():
    with time_machine.travel(LATE, tick=True):
        yield


@pytest.fixture
def file(db, tmp_path):
    """Sent, and the bank has not answered in time."""
    make_rail(ack_within=timedelta(hours=1))
    make_originator()
    (file,) = make_files(2)
    life.release(file, FREEZE)
    send_next(RAIL, Folder(tmp_path), now=FREEZE)
    return OutFile.objects.get()


def address(file, part=""):
    return f"/admin/desk/files/{file.pk}/{part}"


def decision():
    return f"/admin/desk/answers/{SpokenAnswer.objects.get().pk}/"


def shown(browser, path):
    return html.unescape(browser.get(path).content.decode())


def write_down(browser, file, **changes):
    typed = {"verdict": "accepted", "said_by": "Rosa, ACH desk", "reason": REASON, **changes}
    return html.unescape(browser.post(address(file, "answer/"), typed).content.decode())


def decide(browser, what="confirm"):
    answer = browser.post(decision(), {"decision": what}, follow=True)
    return html.unescape(answer.content.decode())


def test_tells_who_can_confirm_it_and_why_somebody_cannot(desk, kim, file):
    write_down(desk, file, **REFUSED)
    new = browser_of(make_staff("new@ballast.example", since=utc_now()))

    assert "You can confirm it." in shown(kim, decision())
    who = (
        "<dt>Who can confirm</dt><dd>ada@ballast.example, bob@ballast.example, kim@ballast.example<"
    )
    assert who in shown(kim, decision())
    assert who in shown(desk, decision())
    page = shown(new, decision())
    assert "Your account is younger than the proposal." in page
    assert 'value="confirm"' not in page
    assert 'value="reject"' in page


def test_one_writes_it_down_and_another_confirms(desk, kim, file):
    assert f"{address(file)}#answers" in shown(desk, EXCEPTIONS)
    assert "write down what it says of the file" in shown(desk, EXCEPTIONS)
    assert address(file, "answer/") in shown(desk, address(file))

    write_down(desk, file, **REFUSED)

    listed = shown(kim, EXCEPTIONS)
    assert "No acknowledgment" not in listed
    assert f"Answer by telephone: {file}" in listed
    assert decision() in listed
    page = shown(kim, address(file))
    for text in ("It took nothing of the file, file_hash", "Rosa, ACH desk", REASON, decision()):
        assert text in page
    assert address(file, "answer/") not in page
    assert "money moves twice" in shown(kim, decision())

    assert "Confirmed" in decide(kim)

    assert OutFile.objects.get().status == "rejected"
    assert AchEntry.objects.filter(status="waiting").count() == 2
    assert "kim@ballast.example" in shown(desk, address(file))
    assert "Rejected. By telephone" in shown(desk, address(file))
    events = AuditEvent.objects.filter(action__startswith="ach_file.answer").order_by("created_at")
    assert [event.action for event in events] == [
        "ach_file.answer_proposed",
        "ach_file.answer_confirmed",
    ]
    assert events[0].staff_note == REASON
    assert events[0].details["saidBy"] == "Rosa, ACH desk"
    assert events[0].actor_id != events[1].actor_id


def test_holds_silence_for_as_long_as_exceptions_say(desk, file, tmp_path):
    make_rail(ack_format="none", accept_after=timedelta(hours=1))
    (silent,) = make_files(1)
    life.release(silent, FREEZE)
    send_next(RAIL, Folder(tmp_path), now=FREEZE)
    write_down(desk, file, **REFUSED)
    write_down(desk, silent, **REFUSED)

    found = {line.title: line for line in lines.exceptions(page=1, now=LATE).lines}

    line = found[f"Answer by telephone: {silent}"]
    answer = silent.spoken_answers.get()
    assert line.deadline == answer.speaks_until
    assert line.deadline.date() == LATE.date() + timedelta(days=1)
    assert "silence does not count" in line.to_do
    ordinary = found[f"Answer by telephone: {file}"]
    assert ordinary.deadline == FREEZE + timedelta(hours=1)
    assert "silence" not in ordinary.to_do


def test_of_batches_by_their_numbers(desk, kim, file):
    write_down(desk, file, verdict="part_rejected", code="batch_hash", batches=" 1, ")
    assert "without some batches: 1, batch_hash" in shown(kim, decision())

    decide(kim)

    assert OutFile.objects.get().batches.get().code == "batch_hash"


@pytest.mark.parametrize("what", ["confirm", "reject"])
def test_nobody_decides_about_their_own(desk, sam, file, what):
    write_down(desk, file)
    User.objects.filter(pk=sam.pk).update(email="sammy@ballast.example")

    assert "You wrote it down" in shown(desk, decision())
    assert decision() not in shown(desk, address(file))
    assert "Another person than the one who wrote it down" in decide(desk, what)

    assert SpokenAnswer.objects.get().status == "proposed"
    assert OutFile.objects.get().status == "sent"
    assert AuditEvent.objects.filter(action__startswith="ach_file.answer").count() == 1


def test_another_may_reject(desk, kim, file):
    write_down(desk, file)

    decide(kim, "reject")

    assert OutFile.objects.get().status == "sent"
    assert address(file, "answer/") in shown(desk, address(file))
    assert "No acknowledgment" in shown(desk, EXCEPTIONS)
    assert "It was decided: not confirmed" in shown(kim, decision())


def test_the_banks_own_answer_makes_it_void(desk, kim, file):
    write_down(desk, file, **REFUSED)
    acknowledging.acknowledged(
        file.pk, verdict=Verdict.ACCEPTED, rejected_batches={}, rejected_entries={}, now=LATE
    )

    assert "the bank's own answer came first" in decide(kim)

    assert OutFile.objects.get().status == "acknowledged"
    assert "The bank's own answer came first" in shown(desk, address(file))
    assert "Answer by telephone" not in shown(desk, EXCEPTIONS)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"verdict": ""}, "required"),
        ({"verdict": "maybe"}, "is not one of the choices"),
        ({"said_by": ""}, "required"),
        ({"reason": ""}, "required"),
        ({"verdict": "rejected"}, "by which code"),
        ({"verdict": "rejected", "code": "not so"}, "valid value"),
        ({"verdict": "rejected", "code": "duplicate_file"}, "already"),
        ({"verdict": "part_rejected", "code": "x"}, "Name batches"),
        ({"verdict": "part_rejected", "code": "x", "batches": "1, 2"}, "no such batch"),
        ({"verdict": "part_rejected", "code": "x", "batches": "one"}, "as 2, 5"),
    ],
    ids=range(10),
)
def test_what_is_not_an_answer(desk, file, changes, words):
    assert words in write_down(desk, file, **changes)

    assert not SpokenAnswer.objects.exists()
    assert not AuditEvent.objects.filter(action__startswith="ach_file.answer").exists()


@pytest.mark.parametrize("name", ["spk_unknown", "%00", "'"])
def test_of_what_is_not_there(desk, db, name):
    assert desk.get(f"/admin/desk/answers/{name}/").status_code == 404


@pytest.mark.parametrize(
    ("permissions", "codes"),
    [
        ((), [403, 403, 403, 403]),
        (("ach.hold_outfile",), [200, 403, 200, 403]),
        (("ach.release_outfile",), [403, 200, 403, 302]),
    ],
    ids=["viewer", "operator", "releaser"],
)
def test_each_step_needs_its_permission(desk, staff_with, file, permissions, codes):
    write_down(desk, file)
    browser = staff_with("ach.view_outfile", *permissions)
    paths = (address(file, "answer/"), decision())

    found = [browser.get(path).status_code for path in paths]
    is_offered = decision() in shown(browser, address(file))
    found += [browser.post(path, {"decision": "confirm"}).status_code for path in paths]

    assert found == codes
    assert is_offered == ("ach.release_outfile" in permissions)
    assert (OutFile.objects.get().status == "acknowledged") == is_offered


def test_whoever_signed_in_a_while_ago_says_again_who_they_are(desk, file):
    write_down(desk, file)
    lee = make_staff("lee@ballast.example", password="long ago")
    session = browser_of(lee, minutes_ago=11)

    for path in (address(file, "answer/"), decision()):
        response = session.post(path, {"decision": "confirm"})
        assert b"Confirm it is you" in response.content

    assert SpokenAnswer.objects.get().status == "proposed"
