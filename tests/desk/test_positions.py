"""The page of the money at instant networks, and moving it by two people, one of whom cheats."""

from __future__ import annotations

from datetime import timedelta

import pytest

from common.clock import utc_now
from config.metrics import Alarms
from desk.home.attention import of_positions
from networks.instant.models import Position, PositionMove
from networks.instant.network import InstantNetwork
from tenants.models import AuditEvent, OutgoingEmail
from tests.builders import make_staff
from tests.networks.instant.builders import RAIL, make_rail, payment
from transfers import position_alarms, positions
from transfers.positions import Move

pytestmark = pytest.mark.django_db

LIST, NEW = "/admin/desk/positions/", "/admin/desk/positions/new/"
WHY = {"reason": "Friday's payroll"}
FUND = {"rail": RAIL, "way": "to", "amount": "500.00", "bank": ""} | WHY


@pytest.fixture(autouse=True)
def rail(tmp_path):
    make_rail(tmp_path, keeps_position=True, position_warn_below=20_000)


def shown(browser, path=LIST):
    return " ".join(browser.get(path).content.decode().split())


def propose(browser, **changes):
    return browser.post(NEW, FUND | changes)


def page_of(row):
    return f"{LIST}{row.pk}/"


def free():
    return Position.objects.get(pk=RAIL).free


def put(cents):
    move = Move(rail=RAIL, cents=cents)
    positions.put_in_force(move, reason="Payroll", by="Ada", now=utc_now())


def pay(cents):
    InstantNetwork(RAIL).submit_many([payment(amount=cents)], now=utc_now())


class TestThePage:
    def test_says_what_there_is_and_what_waits(self, desk):
        put(100_000)
        pay(60_000)
        pay(70_000)

        page = shown(desk)

        assert "$1,000.00" in page
        assert "$600.00" in page
        assert '<span class="desk-tone--bad">$400.00</span>' in page
        assert "1 payment, $700.00</a>, since" in page
        assert f'href="/admin/desk/instant/?rail={RAIL}&amp;status=waiting"' in page

    def test_says_that_every_bank_is_tried(self, desk):
        assert shown(desk).count("No list was imported: every bank is tried.") == 2

    def test_offers_nothing_to_who_may_only_look(self, staff_with):
        browser = staff_with("instant.view_position")

        assert "Move money" not in shown(browser)
        assert propose(browser).status_code == 403
        assert not PositionMove.objects.exists()


class TestMovingMoney:
    def test_takes_two(self, desk, kim):
        assert propose(desk).status_code == 302
        row = PositionMove.objects.get()
        assert (row.amount, row.status, free()) == (50_000, "proposed", 0)

        assert kim.post(page_of(row), {"decision": "approve"}).status_code == 302

        row.refresh_from_db()
        assert (row.status, free()) == ("approved", 50_000)
        lines = AuditEvent.objects.filter(subject_id=row.pk).order_by("created_at", "pk")
        assert [line.action for line in lines] == [
            "position_move.proposed",
            "position_move.approved",
        ]
        assert "Approved" in shown(desk)

    def test_takes_money_back(self, desk, kim):
        put(90_000)
        propose(desk, way="from")

        kim.post(page_of(PositionMove.objects.latest("proposed_at")), {"decision": "approve"})

        assert free() == 40_000

    def test_is_not_approved_by_its_proposer(self, desk):
        propose(desk)
        row = PositionMove.objects.get()
        assert 'value="approve"' not in shown(desk, page_of(row))

        desk.post(page_of(row), {"decision": "approve"})

        row.refresh_from_db()
        assert (row.status, free()) == ("proposed", 0)
        assert AuditEvent.objects.filter(action="position_move.approved").count() == 0

    def test_is_not_approved_without_the_power(self, desk, staff_with):
        propose(desk)
        row = PositionMove.objects.get()
        browser = staff_with("instant.view_position", "instant.propose_positionmove")

        assert browser.post(page_of(row), {"decision": "approve"}).status_code == 403

        row.refresh_from_db()
        assert (row.status, free()) == ("proposed", 0)

    def test_counts_once_however_often_the_button_is_pressed(self, desk, kim):
        propose(desk)
        row = PositionMove.objects.get()

        for _ in range(3):
            kim.post(page_of(row), {"decision": "approve"})

        assert free() == 50_000
        assert AuditEvent.objects.filter(action="position_move.approved").count() == 1

    def test_is_rejected_with_a_reason(self, desk, kim):
        propose(desk)
        row = PositionMove.objects.get()

        kim.post(page_of(row), {"reason": ""})
        row.refresh_from_db()
        assert row.status == "proposed"
        kim.post(page_of(row), {"reason": "Not this week"})

        row.refresh_from_db()
        assert (row.status, row.refusal, free()) == ("rejected", "Not this week", 0)
        kim.post(page_of(row), {"decision": "approve"})  # from a page of before
        assert free() == 0

    @pytest.mark.parametrize(
        "changes",
        [
            {"amount": ""},
            {"amount": "0.00"},
            {"amount": "-5.00"},
            {"amount": "5.001"},
            {"rail": "nowhere"},
            {"way": "sideways"},
            {"bank": "nowhere"},
            {"bank": RAIL},
            {"reason": ""},
        ],
    )
    def test_refuses_a_forged_form(self, desk, changes):
        assert propose(desk, **changes).status_code == 200
        assert not PositionMove.objects.exists()

    def test_of_nothing_is_not_found(self, desk):
        assert desk.get(f"{LIST}ipm_nothing/").status_code == 404


class TestAlarms:
    @pytest.fixture
    def ann(self):
        return make_staff("ann@ballast.example", ["instant.propose_positionmove"])

    def told(self):
        mails = OutgoingEmail.objects.filter(template="work_alarm").order_by("created_at", "pk")
        return [(mail.to, mail.context["what"]) for mail in mails]

    def test_come_once_a_day_before_anything_waits(self, ann):
        put(19_999)
        now = utc_now()

        position_alarms.tell(now=now)
        position_alarms.tell(now=now)
        assert self.told() == [(ann.email, f"$199.99 left at the network of {RAIL}")]

        position_alarms.tell(now=now + timedelta(days=1))
        assert len(self.told()) == 2

    def test_come_once_more_when_something_waits(self, ann):
        put(19_999)
        now = utc_now()
        position_alarms.tell(now=now)
        pay(20_000)

        position_alarms.tell(now=now)

        assert len(self.told()) == 2
        (event,) = AuditEvent.objects.filter(action="position.exhausted")
        assert event.details == {"rail": RAIL, "free": 19_999, "waiting": 20_000, "people": 1}

    def test_do_not_come_while_there_is_enough(self, ann):
        put(20_000)

        position_alarms.tell(now=utc_now())

        assert (self.told(), list(of_positions())) == ([], [])

    def test_do_not_come_where_no_position_is_kept(self, ann, tmp_path):
        make_rail(tmp_path, position_warn_below=20_000)

        position_alarms.tell(now=utc_now())

        assert (self.told(), list(of_positions())) == ([], [])

    def test_stand_on_the_home_page(self, desk):
        put(100)
        pay(5_000)
        propose(desk)

        low, move = of_positions()

        assert low.text == f"Rail {RAIL}: $1.00 left at the network, and $50.00 waits for more."
        assert (low.tone, low.href) == ("bad", LIST)
        assert move.href == page_of(PositionMove.objects.get(status="proposed"))
        assert low.text in shown(desk, "/admin/")

    def test_are_metrics(self):
        put(100)

        found = {
            (sample.name, *sample.labels.values()): sample.value
            for metric in Alarms().collect()
            for sample in metric.samples
        }

        assert found["ballast_instant_position_cents", RAIL] == 100
        assert found["ballast_instant_position_low", RAIL] == 1
        assert found["ballast_instant_participants", "rtp"] == 0
