"""Instant rails at the desk: terms by two people, and our keys."""

from __future__ import annotations

import html
from dataclasses import replace
from datetime import timedelta

import pytest

from common.clock import utc_now
from desk.doers import operator
from desk.rails.instant import acts
from desk.rails.instant.forms import InstantTermsForm
from desk.rails.instant.terms import WORDING, complete
from networks.instant import key_slots, rails
from networks.instant.models import InstantKey, InstantLine, InstantVersion
from networks.instant.models.rails import ProfileName
from networks.instant.terms import Connection, RailTerms, TransportKind
from networks.rails.models import RailKind
from reconciliation.models import SettlementAccount
from tenants.models import AuditEvent, User
from tests.builders import browser_of, make_staff

NAME = "fednow_one"
PAGE = f"/admin/desk/instant-rails/{NAME}/"
REASON = "The operator moved its server"
OLGA = operator("Olga")
PIN, NEXT_PIN = "ab" * 32, "cd" * 32
ALL = RailTerms(
    participant="124000313",
    routing_number="124000313",
    creditor_name="Ballast Inc.",
    payment_max=500_000_00,
    settlement_account="fednow",
    keeps_position=True,
    position_warn_below=10_000_00,
    active=True,
    connection=Connection(
        base_url="https://bank.example/fednow", pins=(PIN, NEXT_PIN), timeout=timedelta(seconds=7)
    ),
)
FOLDER = Connection(kind=TransportKind.FOLDER, folder="/srv/fednow")


@pytest.fixture
def opened(db):
    return acts.open_rail(
        name=NAME, profile=ProfileName.FEDNOW, kind=RailKind.REAL, doer=OLGA, now=utc_now()
    )


@pytest.fixture
def rail(opened):
    acts.change_alone(
        rail=opened,
        terms=ALL,
        account="4000323456",
        reason="First bank",
        doer=OLGA,
        now=utc_now(),
    )
    return opened


@pytest.fixture
def kim(db):
    """Another one who works for us, with every permission."""
    return browser_of(make_staff("kim@ballast.example"))


def shown(browser, path=PAGE):
    return html.unescape(browser.get(path).content.decode())


def typed(base=None, **changes):
    """The form as a browser sends it, of the terms in force but for `changes`."""
    form = InstantTermsForm(None, base=base or rails.current(NAME).version.terms)
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


def decide(browser, decision="approve", number=2):
    return browser.post(f"{PAGE}versions/{number}/decide/", {"decision": decision})


def status(number=2):
    return InstantVersion.objects.get(number=number).status


class TestTerms:
    def test_have_a_place_each(self):
        names = {term.name.split("__")[0] for term in WORDING.terms}

        assert names == set(ALL.as_json())

    @pytest.mark.parametrize("connection", [ALL.connection, FOLDER], ids=["https", "folder"])
    def test_come_back_from_the_form_as_they_were(self, connection):
        stored = replace(ALL, connection=connection).as_json()

        assert RailTerms.parse(WORDING.nested(WORDING.flat(stored), stored)).as_json() == stored

    def test_of_an_earlier_day_have_what_was_added_since(self):
        stored = ALL.as_json()
        del stored["keeps_position"]

        assert complete(stored)["keeps_position"] is False
        assert complete(ALL.as_json()) == ALL.as_json()


class TestPage:
    def test_shows_the_terms_in_words(self, desk, rail, django_assert_max_num_queries):
        acts.make_key(rail=NAME, reason="First", doer=OLGA, now=utc_now())
        with django_assert_max_num_queries(30):
            page = shown(desk)

        for words in (
            "FedNow, version 1",
            "$500,000.00",
            "ending in 3456",
            PIN,
            "Never heard",
            "May still leave",
        ):
            assert words in page, words
        key = InstantKey.objects.get()
        assert key.fingerprint in page
        assert key.certificate.strip() in page
        assert key.signing_request.strip() in page
        assert "4000323456" not in page
        assert "set by one person, Olga" in page

    def test_tells_whose_certificate_ends_soon(self, desk, rail):
        key = acts.make_key(rail=NAME, reason="First", doer=OLGA, now=utc_now())
        assert "signed by ourselves" in shown(desk)
        assert "ends soon" not in shown(desk)

        old = utc_now() - timedelta(days=3 * 365 - 20)
        key_slots.replace(rail=NAME, by="Olga", now=old)

        assert key.fingerprint in shown(desk)
        assert "The certificate ends soon" in shown(desk)

    def test_says_how_to_begin(self, desk, opened):
        page = shown(desk)

        assert "No terms yet" in page
        assert "manage.py instant_key fednow_one" in page

    def test_leads_from_the_list(self, desk, rail):
        assert PAGE in shown(desk, "/admin/desk/rails/")

    def test_is_not_listed_for_who_may_not_see_it(self, staff_with, rail):
        page = shown(staff_with("ach.view_achrail"), "/admin/desk/rails/")

        assert PAGE not in page

    @pytest.mark.parametrize("path", ["", "versions/9/", "change/"])
    def test_of_what_is_not_there(self, desk, rail, path):
        assert desk.get(f"/admin/desk/instant-rails/none/{path}").status_code == 404
        assert desk.get(f"{PAGE}versions/9/").status_code == 404

    def test_tells_of_a_line_in_trouble_until_somebody_asks_again(self, desk, rail):
        later = utc_now() + timedelta(hours=1)
        InstantLine.objects.update(
            trouble="tls_failed", trouble_since=utc_now(), next_attempt_at=later
        )
        assert "refuses our certificate" in shown(desk)
        assert "Not heard" in shown(desk, "/admin/desk/rails/")

        desk.post(f"{PAGE}look-again/")
        desk.post(f"{PAGE}look-again/")

        assert InstantLine.objects.filter(next_attempt_at__lt=later).exists()
        assert AuditEvent.objects.filter(action="rail.looked_again").exists()


class TestChange:
    def test_takes_effect_when_another_person_agrees(self, desk, kim, rail):
        propose(desk, payment_max="250,000.00", connection__timeout="9")
        assert rails.current(NAME).terms == ALL
        assert "waits for another person than sam@ballast.example" in shown(kim)
        assert "$500,000.00" in shown(kim, f"{PAGE}versions/2/")

        decide(kim)

        terms = rails.current(NAME).terms
        assert (terms.payment_max, terms.connection.timeout) == (
            250_000_00,
            timedelta(seconds=9),
        )
        assert rails.current(NAME).account == "4000323456"
        assert AuditEvent.objects.get(action="rail.proposed").details["changes"] == [
            "A payment, at most: $500,000.00 → $250,000.00",
            "Time without an answer: 7 s → 9 s",
        ]
        approved = AuditEvent.objects.get(action="rail.approved")
        assert approved.actor_id == User.objects.get(email__startswith="kim").pk

    def test_of_our_account_is_shown_by_its_end(self, desk, kim, rail):
        propose(desk, account="9900003456")

        page = shown(kim, f"{PAGE}versions/2/")
        assert "ending in 3456 (another one)" in page
        assert "9900003456" not in page
        decide(kim)
        assert rails.current(NAME).account == "9900003456"

    def test_begins_a_rail_without_terms(self, desk, kim, opened):
        desk.post(f"{PAGE}change/", typed(ALL.as_json(), account="4000323456"))
        assert status(1) == "proposed"

        decide(kim, number=1)

        assert rails.current(NAME).terms == ALL

    def test_is_shown_with_what_nobody_has_to_type(self, desk, opened):
        page = shown(desk, f"{PAGE}change/")

        assert "$10,000,000.00" in page
        assert "Number of our account" in page

    def test_is_not_decided_by_who_proposed_it(self, desk, sam, rail):
        propose(desk, creditor_name="Other Inc.")
        assert "You proposed it, so somebody else decides." in shown(desk, f"{PAGE}versions/2/")
        User.objects.filter(pk=sam.pk).update(email="sammy@ballast.example")

        for decision in ("approve", "reject"):
            decide(desk, decision)

        assert status() == "proposed"

    def test_is_withdrawn_by_who_proposed_it_alone(self, desk, kim, rail):
        propose(desk, creditor_name="Other Inc.")
        assert "Withdraw" not in shown(kim, f"{PAGE}versions/2/")
        kim.post(f"{PAGE}versions/2/withdraw/")
        assert status() == "proposed"

        for _ in range(2):
            desk.post(f"{PAGE}versions/2/withdraw/")

        assert status() == "withdrawn"
        assert AuditEvent.objects.filter(action="rail.withdrawn").count() == 1

    def test_is_rejected_by_another_person(self, desk, kim, rail):
        propose(desk, creditor_name="Other Inc.")

        decide(kim, "reject")

        assert status() == "rejected"
        assert rails.current(NAME).terms == ALL

    def test_is_decided_once(self, desk, kim, rail):
        propose(desk, creditor_name="Other Inc.")
        for decision in ("approve", "approve", "reject"):
            decide(kim, decision)

        assert status() == "current"
        assert AuditEvent.objects.filter(action="rail.approved").count() == 1

    def test_from_a_stale_page_is_not_decided(self, desk, kim, rail):
        """Somebody withdrew it and proposed another one meanwhile."""
        propose(desk, creditor_name="Other Inc.")
        desk.post(f"{PAGE}versions/2/withdraw/")
        propose(desk, creditor_name="A Third Inc.")

        decide(kim)

        assert (status(2), status(3)) == ("withdrawn", "proposed")
        assert rails.current(NAME).terms == ALL

    def test_waits_until_the_one_before_is_decided(self, desk, rail):
        propose(desk, creditor_name="Other Inc.")

        answer = propose(desk, creditor_name="A Third Inc.")

        assert "Another change waits for a decision" in html.unescape(answer.content.decode())
        assert InstantVersion.objects.count() == 2

    @pytest.mark.parametrize(
        ("field", "value", "told"),
        [
            ("participant", "124", "Is a routing number"),
            ("participant", "124000313T1", "FedNow is called by 9 characters"),
            ("routing_number", "124000314", "Is no routing number."),
            ("creditor_name", "", "Has 1 to 140 characters."),
            ("payment_max", "a lot", "An amount like 2,500.00."),
            ("payment_max", "10,000,000.01", "Is a whole number from 1"),
            ("tries_unknown", "0", "Is a whole number from 1 to 100."),
            ("connection__base_url", "http://bank.example", "Needs an address such as"),
            ("connection__pin_1", "abc", "Needs one or two SHA-256 digests"),
            ("connection__pin_2", PIN.upper(), "Needs one or two SHA-256 digests"),
            ("connection__timeout", "60", "Waits 1 to 20 seconds"),
            ("connection__kind", "telnet", "Something cannot be"),
            ("account", "12 34", "our own account"),
            ("reason", "no", "at least 5 characters"),
        ],
    )
    def test_that_cannot_be_is_explained(self, desk, rail, field, value, told):
        answer = propose(desk, **{field: value})

        assert answer.status_code == 200
        assert told in html.unescape(answer.content.decode())
        assert InstantVersion.objects.count() == 1

    def test_of_nothing_is_refused(self, desk, rail):
        assert "These are the terms in force." in html.unescape(propose(desk).content.decode())

    def test_says_nothing_beyond_the_form(self, desk, rail):
        """A forged field changes nothing, and a forged decision neither."""
        propose(desk, creditor_name="Other Inc.", status="current", proposed_by="usr_eve")
        decide(desk, "put in force")

        version = InstantVersion.objects.get(number=2)
        assert (version.status, version.proposed_by != "usr_eve") == ("proposed", True)


class TestStatements:
    """Files of its account lie beside those of banks, and pages of banks leave it out."""

    def test_begin_with_an_account_that_two_people_put_in_force(self, desk, kim, rail):
        typed = {
            "rail": NAME,
            "number": "4000323456",
            "format": "camt",
            "opened_on": "2026-11-30",
            "cents": "5,000.00",
            "reason": REASON,
        }
        desk.post("/admin/desk/statements/accounts/new/", typed)
        account = SettlementAccount.objects.get()
        assert (account.rail_id, account.status) == (NAME, "proposed")

        kim.post(f"/admin/desk/statements/accounts/{account.pk}/", {"decision": "approve"})

        account.refresh_from_db()
        assert account.status == "current"
        assert desk.get(f"/admin/desk/rails/{NAME}/").headers["Location"] == PAGE
        assert desk.get(f"/admin/desk/rails/{NAME}/change/").status_code == 404
        assert "No bank is connected" in shown(desk, "/admin/desk/rails/")


MATRIX = {
    "change/": "instant.add_instantversion",
    "versions/1/decide/": "instant.change_instantversion",
}


class TestPermissions:
    @pytest.mark.parametrize("path", MATRIX)
    def test_each_page_needs_its_own(self, staff_with, rail, path):
        browser = staff_with("instant.view_instantrail", *(set(MATRIX.values()) - {MATRIX[path]}))

        assert browser.get(PAGE).status_code == 200
        assert browser.get(f"{PAGE}{path}").status_code == 403
        assert browser.post(f"{PAGE}{path}", {"reason": REASON}).status_code == 403

    @pytest.mark.parametrize("path", MATRIX)
    def test_is_enough(self, staff_with, rail, path):
        browser = staff_with("instant.view_instantrail", MATRIX[path])

        assert browser.get(f"{PAGE}{path}").status_code == 200

    def test_of_others_open_nothing(self, staff_with, rail):
        assert staff_with("ach.view_achrail").get(PAGE).status_code == 403

    def test_who_may_only_look_decides_nothing(self, desk, staff_with, rail):
        propose(desk, creditor_name="Other Inc.")
        decide(staff_with("instant.view_instantrail"))

        assert status() == "proposed"
