"""Rails at the desk: terms by two people, stops by one, and a line in the audit log for each."""

from __future__ import annotations

import html
from datetime import timedelta
from io import StringIO

import pytest
import time_machine
from django.core.management import call_command

from common.clock import utc_now
from desk.rails import terms as words
from desk.rails.forms import TermsForm
from desk.rails.wording import Line
from networks.ach import key_slots
from networks.ach.changing import ChangeRefused
from networks.ach.models import Originator, RailLine, RailSwitch, RailVersion
from networks.ach.terms import RailTerms
from networks.rails.models import Route
from tenants.actors import SYSTEM, staff
from tenants.models import AuditEvent, User
from tests.builders import NOW, browser_of, make_staff
from tests.desk.ach import RAIL, approve, make_rail, terms
from tests.networks.ach.inbound.builders import NOW as BANK_NOW
from tests.networks.ach.inbound.builders import make_batch, make_entry
from tests.networks.ach.inbound.builders import make_rail as make_bank
from transfers import route_changes

PAGE = f"/admin/desk/rails/{RAIL}/"
REASON = "The bank moved its cut-off"
HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0bD7Jc9d3XfGx2o1kq8mZ6vYh5tQw0rLpN4sUeTgHi"
ALL_TERMS = terms(
    connection={
        "host": "sftp.first.example",
        "user": "ballast",
        "host_keys": [HOST_KEY, HOST_KEY[:-2] + "Ha"],
    }
).as_json()


@pytest.fixture
def rail(db):
    return make_rail()


@pytest.fixture
def kim(db):
    """Another one who works for us, with every permission."""
    return browser_of(make_staff("kim@ballast.example"))


def shown(browser, path=PAGE):
    return html.unescape(browser.get(path).content.decode())


def typed(**changes):
    """The form as a browser sends it, of the terms in force but for `changes`."""
    form = TermsForm(None, base=RailVersion.objects.get(status="current").terms)
    values = {}
    for name, field in form.fields.items():
        value = field.prepare_value(form.get_initial_for_field(field, name))
        if value is True:
            values[name] = "on"
        elif value not in (None, False):
            values[name] = value
    return {**values, "reason": REASON, **changes}


def propose(browser, **changes):
    return browser.post(f"{PAGE}change/", typed(**changes))


def audited(action):
    return AuditEvent.objects.get(action=action)


class TestTerms:
    def test_have_a_place_each(self):
        names = {term.name.split("__")[0] for term in words.WORDING.terms}

        assert names == set(terms().as_json())

    @pytest.mark.parametrize("stored", [terms().as_json(), ALL_TERMS], ids=["few", "all"])
    def test_come_back_from_the_form_as_they_were(self, stored):
        assert (
            RailTerms.parse(words.WORDING.nested(words.WORDING.flat(stored), stored)).as_json()
            == stored
        )

    def test_differ_by_what_differs(self):
        later = terms(lead=1800, same_day_max=5_000_00).as_json()

        assert words.WORDING.differences(terms().as_json(), later) == [
            Line("Frozen before a cut-off", "30 min", "15 min"),
            Line("A same-day entry, at most", "$5,000.00", "$1,000,000.00"),
        ]

    @pytest.mark.parametrize(
        ("how", "told", "untold"),
        [
            ("jsonl", "An acknowledgment comes within", "Silence is consent after"),
            ("none", "Silence is consent after", "An acknowledgment comes within"),
        ],
    )
    def test_show_the_time_that_counts_at_a_bank_that_answers_so(self, how, told, untold):
        shown = words.sections(terms(ack_format=how).as_json())

        labels = [line.label for section in shown for line in section.lines]
        assert told in labels
        assert untold not in labels


class TestPage:
    def test_has_the_key_in_use_on_top_of_the_second(self, desk, rail):
        for made in (NOW, NOW + timedelta(days=1)):
            key_slots.make(rail=RAIL, by="ops", now=made)

        content = shown(desk)

        assert 0 < content.index("Ours, in use") < content.index("Ours, second slot")

    def test_shows_the_terms_in_words(self, desk, rail, django_assert_max_num_queries):
        with django_assert_max_num_queries(20):
            content = shown(desk)

        for text in ("FIRST BANK", "10:00 same day, 19:45", "$1,000,000.00", "BALLAST"):
            assert text in content
        assert "{'at'" not in content

    def test_says_that_one_person_did_it(self, desk, rail):
        assert "were set by one person, Olga, at a command line" in shown(desk)

    def test_shows_which_tenants_use_it(self, desk, rail):
        assert "No tenant uses this rail." in shown(desk)
        Route.objects.create(
            mode="live",
            method="ach_debit",
            rail_id=RAIL,
            rail_kind="stand_in",
            development=True,
            changed_at=NOW,
        )

        assert "ach_debit, live tenants" in shown(desk)

    def test_says_how_to_begin(self, desk, db):
        assert "manage.py ach_rail" in shown(desk, "/admin/desk/rails/")

    def test_leads_from_the_list(self, desk, rail):
        assert f'href="{PAGE}"' in shown(desk, "/admin/desk/rails/")

    @pytest.mark.parametrize("name", ["unknown", "%00", "x" * 300, "a'b"])
    def test_of_a_rail_that_is_not_there(self, desk, db, name):
        assert desk.get(f"/admin/desk/rails/{name}/").status_code == 404

    def test_of_a_version_that_is_not_there(self, desk, rail):
        assert desk.get(f"{PAGE}versions/99/").status_code == 404


class TestChange:
    def test_takes_effect_when_another_person_agrees(self, desk, kim, rail):
        propose(desk, lead="30")
        assert RailVersion.objects.get(status="current").parsed.lead.seconds == 900
        assert "waits for another person than sam@ballast.example" in shown(kim)

        kim.post(f"{PAGE}versions/2/decide/", {"decision": "approve"})

        version = RailVersion.objects.get(status="current")
        assert (version.number, version.parsed.lead.seconds) == (2, 1800)
        assert audited("rail.proposed").details["changes"] == [
            "Frozen before a cut-off: 15 min → 30 min"
        ]
        assert audited("rail.approved").actor_id == User.objects.get(email__startswith="kim").pk

    def test_of_our_account_is_shown_beside_other_ones(self, desk, kim, db):
        make_rail(offset="balanced", offset_routing="091000019", account="4400001234")

        propose(desk, lead="30", offset_account="9900001234")

        page = shown(kim, f"{PAGE}versions/2/")
        assert "Number of our account" in page
        assert "ending in 1234 (another one)" in page
        assert "9900001234" not in page
        told = "Number of our account: ending in 1234 → ending in 1234 (another one)"
        assert told in audited("rail.proposed").details["changes"]
        assert told not in audited("rail.changed").details["changes"]

    def test_that_keeps_our_account_says_nothing_of_it(self, desk, kim, db):
        make_rail(offset="balanced", offset_routing="091000019", account="4400001234")

        propose(desk, lead="30")

        assert RailVersion.objects.get(number=2).offset_account == "4400001234"
        assert "Number of our account" not in shown(kim, f"{PAGE}versions/2/")

    def test_is_not_decided_by_who_proposed_it(self, desk, rail):
        propose(desk, lead="30")

        assert "You proposed it, so somebody else decides." in shown(desk, f"{PAGE}versions/2/")
        for decision in ("approve", "reject"):
            desk.post(f"{PAGE}versions/2/decide/", {"decision": decision})

        assert RailVersion.objects.get(number=2).status == "proposed"

    def test_stays_theirs_under_another_address(self, desk, sam, rail):
        propose(desk, lead="30")
        User.objects.filter(pk=sam.pk).update(email="sammy@ballast.example")

        desk.post(f"{PAGE}versions/2/decide/", {"decision": "approve"})

        assert RailVersion.objects.get(number=2).status == "proposed"

    def test_is_rejected_by_another_person(self, desk, kim, rail):
        propose(desk, lead="30")

        kim.post(f"{PAGE}versions/2/decide/", {"decision": "reject"})

        assert RailVersion.objects.get(number=2).status == "rejected"
        assert RailVersion.objects.get(status="current").number == 1

    def test_is_decided_once(self, desk, kim, rail):
        propose(desk, lead="30")
        for _ in range(2):
            kim.post(f"{PAGE}versions/2/decide/", {"decision": "approve"})

        assert AuditEvent.objects.filter(action="rail.approved").count() == 1

    def test_waits_until_the_one_before_is_decided(self, desk, rail):
        propose(desk, lead="30")

        answer = propose(desk, lead="45")

        assert "Another change waits for a decision" in html.unescape(answer.content.decode())
        assert RailVersion.objects.count() == 2

    def test_keeps_an_operator_from_changing_terms_beside_it(self, desk, rail):
        propose(desk, lead="30")

        with pytest.raises(ChangeRefused):
            make_rail(active=False)

        assert RailVersion.objects.count() == 2

    def test_of_nothing_is_refused(self, desk, rail):
        assert "These are the terms in force." in html.unescape(propose(desk).content.decode())

    @pytest.mark.parametrize(
        ("field", "value", "told"),
        [
            ("odfi_routing", "091000018", "Is no routing number."),
            ("cutoffs", "25:00", "A line is a time"),
            ("cutoffs", "19:45\n10:00", "Need one at least, each later than the one before."),
            ("entry_max", "a lot", "An amount like 2,500.00."),
            ("file_name_pattern", "{secret}", "May name date"),
            ("company_name", "<script>alert(1)</script>", "Needs 1 to 16 upper-case"),
            ("connection__port", "99999", "The port is a number"),
            (words.HOST_KEYS[0], "ssh-ed25519 AAAAone", "A line as ssh-ed25519"),
            (words.HOST_KEYS[1], "ssh-dss AAAAB3NzaC1kc3MA", "A line as ssh-ed25519"),
            ("lead", "-5", "Enter 0 or more."),
            ("reason", "no", "at least 5 characters"),
        ],
    )
    def test_that_cannot_be_is_explained(self, desk, rail, field, value, told):
        answer = propose(desk, **{field: value})

        assert answer.status_code == 200
        assert told in html.unescape(answer.content.decode())
        assert "<script>alert(1)" not in answer.content.decode()
        assert RailVersion.objects.count() == 1


class TestStop:
    def stop(self, browser, part="sending"):
        return browser.post(f"{PAGE}stop/", {"part": part, "reason": "The bank called"})

    def test_and_release_are_one_persons(self, desk, rail):
        self.stop(desk)
        switch = RailSwitch.objects.get()
        assert "Sending files is stopped" in shown(desk)

        desk.post(f"{PAGE}stops/{switch.pk}/", {"reason": "All is well"})

        switch.refresh_from_db()
        assert switch.released_at is not None
        assert (audited("rail.stopped").staff_note, audited("rail.went_on").staff_note) == (
            "The bank called",
            "All is well",
        )

    def test_twice_is_refused(self, desk, rail):
        self.stop(desk)

        assert "It is stopped already." in self.stop(desk).content.decode()
        assert RailSwitch.objects.count() == 1

    def test_of_no_part_is_refused(self, desk, rail):
        self.stop(desk, "everything")

        assert not RailSwitch.objects.exists()

    def test_is_released_once(self, desk, rail):
        self.stop(desk)
        switch = RailSwitch.objects.get()
        for _ in range(2):
            desk.post(f"{PAGE}stops/{switch.pk}/", {"reason": "All is well"})

        assert AuditEvent.objects.filter(action="rail.went_on").count() == 1


class TestConnection:
    def test_says_what_is_missing(self, desk, rail):
        answer = desk.post(f"{PAGE}test/")

        assert "The terms name no host" in html.unescape(answer.content.decode())
        assert audited("rail.tested").details == {"codes": ["not_connected"]}

    def test_says_what_to_do_when_nobody_answers(self, desk, db):
        make_rail(
            connection={"host": "127.0.0.1", "port": 1, "user": "us", "host_keys": [HOST_KEY]}
        )
        call_command("ach_key", RAIL, "--operator", "Olga", "--reason", "First", stdout=StringIO())

        answer = desk.post(f"{PAGE}test/")

        assert "Nobody answers at this host and port." in html.unescape(answer.content.decode())

    def test_that_is_in_trouble_is_shown_until_somebody_looks_again(self, desk, rail):
        now = utc_now()
        line = RailLine.objects.create(
            pk=RAIL,
            trouble="sign_in_refused",
            trouble_since=now,
            attempts=9,
            next_attempt_at=now + timedelta(hours=1),
        )
        assert "Check the user name" in shown(desk)
        assert "are not fetched: sign_in_refused" in shown(desk, "/admin/desk/exceptions/")

        desk.post(f"{PAGE}look-again/")

        line.refresh_from_db()
        assert line.attempts == 0
        assert line.next_attempt_at is not None
        assert line.next_attempt_at < now + timedelta(minutes=1)
        assert audited("rail.looked_again").details == {"code": "sign_in_refused"}

    def test_that_works_is_not_looked_at_again(self, desk, rail):
        desk.post(f"{PAGE}look-again/")

        assert not AuditEvent.objects.filter(action="rail.looked_again").exists()

    def test_is_asked_for_by_a_button(self, desk, rail):
        assert desk.get(f"{PAGE}test/").status_code == 405

    def test_needs_its_permission(self, staff_with, rail):
        browser = staff_with("ach.view_achrail", "ach.change_originator")

        assert browser.post(f"{PAGE}test/").status_code == 403
        assert "Test connection" not in shown(browser)


class TestOriginators:
    def typed(self, **changes):
        values = {"company_name": "ACME", "company_id": "9876543210", "reason": "A new tenant"}
        return {**values, **changes}

    def test_are_made_for_a_tenant(self, desk, kim, rail, acme):
        desk.post(
            f"{PAGE}originators/new/", self.typed(tenant=acme.pk, daily_debit_max="50,000.00")
        )
        approve(kim)

        row = Originator.objects.get(tenant_id=acme.pk)
        assert (row.company_name, row.daily_debit_max, row.exposure_max) == (
            "ACME",
            5_000_000,
            None,
        )
        content = shown(desk)
        assert "$50,000.00" in content
        assert "Acme" in content
        assert AuditEvent.objects.filter(action="originator.assigned", subject_id=row.pk).exists()

    def test_are_changed(self, desk, kim, rail):
        row = Originator.objects.get()

        desk.post(f"{PAGE}originators/{row.pk}/", self.typed(exposure_max="1,000.00"))
        approve(kim)

        row.refresh_from_db()
        assert (row.company_name, row.exposure_max, row.tenant_id) == ("ACME", 100_000, "")

    def test_show_their_return_rates(self, sam):
        batch = make_batch(make_bank())
        for number in range(1, 5):
            make_entry(batch, number)
        make_entry(batch, 5, status="returned", code="R10", ended_at=BANK_NOW)
        row = Originator.objects.get()

        with time_machine.travel(BANK_NOW, tick=True):
            page = f"/admin/desk/rails/{row.rail_id}/originators/{row.pk}/"
            content = shown(browser_of(sam), page)

        assert "1 of 5" in content
        assert "20.00 %" in content
        assert "of 0.5 %" in content

    def test_do_not_end_while_their_debits_are_stopped(self, desk, rail):
        row = Originator.objects.get()
        Originator.objects.update(debits_stopped_at=row.created_at, debits_stopped_why="Returns")

        response = desk.post(
            f"{PAGE}originators/{row.pk}/end/", {"reason": "No longer ours"}, follow=True
        )

        assert "decide about that first" in response.content.decode()
        assert Originator.objects.get().ended_at is None

    def test_end_with_a_reason(self, desk, rail):
        row = Originator.objects.get()
        desk.post(f"{PAGE}originators/{row.pk}/end/", {"reason": ""})
        assert Originator.objects.get().ended_at is None

        desk.post(f"{PAGE}originators/{row.pk}/end/", {"reason": "No longer ours"})

        assert Originator.objects.get().ended_at is not None
        assert "so it refuses every entry" in shown(desk)

    @pytest.mark.parametrize(
        ("field", "value", "told"),
        [
            ("tenant", "ten_nobody", "There is no such tenant."),
            ("company_name", "Łódź", "upper-case letters and digits"),
            ("company_name", "acme", "upper-case letters and digits"),
            ("company_id", "12-34", "1 to 10 letters and digits"),
            ("daily_debit_max", "-1", "An amount like"),
        ],
    )
    def test_that_cannot_be_are_explained(self, desk, rail, field, value, told):
        answer = desk.post(f"{PAGE}originators/new/", self.typed(**{field: value}))

        assert told in html.unescape(answer.content.decode())
        assert Originator.objects.count() == 1


MATRIX = {
    "change/": "ach.add_railversion",
    "versions/1/decide/": "ach.change_railversion",
    "stop/": "ach.add_railswitch",
    "originators/new/": "ach.change_originator",
}


class TestPermissions:
    @pytest.mark.parametrize("path", MATRIX)
    def test_each_page_needs_its_own(self, staff_with, rail, path):
        browser = staff_with("ach.view_achrail", *(set(MATRIX.values()) - {MATRIX[path]}))

        assert browser.get(PAGE).status_code == 200
        assert browser.get(f"{PAGE}{path}").status_code == 403
        assert browser.post(f"{PAGE}{path}", {"reason": REASON}).status_code == 403

    @pytest.mark.parametrize("path", MATRIX)
    def test_is_enough(self, staff_with, rail, path):
        browser = staff_with("ach.view_achrail", MATRIX[path])

        assert browser.get(f"{PAGE}{path}").status_code == 200

    def test_of_others_open_nothing(self, staff_with, rail):
        assert staff_with("tenants.view_tenant").get(PAGE).status_code == 403

    def test_strangers_sign_in_first(self, client, rail):
        assert client.get(PAGE).status_code == 302


class TestRoutes:
    def test_say_which_rail_carries_what_and_who_said_so(self, desk, db):
        Route.objects.filter(method="ach_credit").update(development=True)
        call_command(
            "set_route",
            *("--mode", "sandbox", "--method", "ach_debit", "--close"),
            *("--operator", "Olga", "--reason", "the bank is away", "--json"),
            stdout=StringIO(),
        )

        content = shown(desk, "/admin/desk/rails/").split('id="routes"')[1]
        rows = {row.split("<")[0]: row for row in content.split('class="desk-mono">')[1:]}
        assert "Closed" in rows["ach_debit"]
        assert "Olga: the bank is away" in rows["ach_debit"]
        assert "Open" in rows["rtp_request"]
        assert "stand-in" in rows["rtp_request"]
        assert "Development" in rows["ach_credit"]
        assert "Development" not in rows["rtp_request"]
        assert "manage.py set_route" in content

    def test_name_nobody_where_an_older_line_does_not(self, desk, db):
        route = Route.objects.get(mode="sandbox", method="ach_debit")
        route_changes.close_route(
            mode="sandbox", method=route.method, reason="x", actor=SYSTEM, now=NOW
        )

        assert "A command: x" in shown(desk, "/admin/desk/rails/")

    def test_name_the_person(self, desk, db):
        route = Route.objects.get(mode="sandbox", method="ach_debit")
        person = make_staff("kim@ballast.example")
        route_changes.close_route(
            mode="sandbox", method=route.method, reason="x", actor=staff(person.pk), now=NOW
        )

        assert "kim@ballast.example: x" in shown(desk, "/admin/desk/rails/")


def test_limits_are_not_changed_by_who_signed_in_long_ago(rail):
    session = browser_of(make_staff("sue@ballast.example", password="long ago"), minutes_ago=11)

    response = session.get(f"{PAGE}originators/new/")

    assert response["Location"].startswith("/accounts/reauthenticate/")
