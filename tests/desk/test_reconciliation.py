"""Reconciliation at the desk: the day at a glance, the lines behind each figure, matching by hand,
suspense by two people, and days that close."""

from __future__ import annotations

import html
import re

import pytest

from balance.operator.lines import Cause
from desk.reconciliation import origins
from reconciliation import booking, expecting, suspense
from reconciliation.matching import running
from reconciliation.models import (
    BookedLine,
    Clearing,
    ClosedDay,
    Match,
    Rule,
    StatementLine,
    TransitNote,
)
from tenants.models import AuditEvent
from tests.builders import browser_of, make_staff, make_tenant
from tests.networks.ach.inbound.builders import RAIL, make_rail
from tests.reconciliation import statements
from tests.reconciliation.banking import Posted, state
from tests.reconciliation.books import book, match_all
from tests.reconciliation.statements import (
    FRIDAY,
    MONDAY,
    NOW,
    THURSDAY,
    TUESDAY,
    WEDNESDAY,
    bai2_of,
    of_kinds,
    take,
)
from tests.solvency.builders import adjust, live
from transfers.inbox.models import InboundEvent, ReturnDishonor

HOME = "/admin/desk/reconciliation/"
OF_RAIL = f"{HOME}rails/{RAIL}/"
REASON = "The bank told us on the phone"


@pytest.fixture
def account(db):
    make_rail()
    return statements.in_force()


def shown(browser, path=HOME):
    answer = browser.get(path)
    assert answer.status_code == 200, path
    return html.unescape(answer.content.decode())


def told(browser, path, **typed):
    return html.unescape(browser.post(path, typed, follow=True).content.decode())


def actions():
    return list(AuditEvent.objects.order_by("pk").values_list("action", flat=True))


def a_line():
    return StatementLine.objects.get()


class TestTheDay:
    def test_says_how_to_begin_where_no_account_is_in_force(self, desk):
        assert "No settlement account is in force" in shown(desk)

    def test_shows_the_way_from_the_books_to_the_bank(self, desk, account, acme):
        book(acme, MONDAY, 5_000, 700)
        take(bai2_of(MONDAY, 5_000))
        match_all(MONDAY)

        for page in (shown(desk), shown(desk, f"{OF_RAIL}2026-11-16/")):
            assert "$10,057.00" in page  # books
            assert "$7.00" in page  # in transit
            assert "$10,050.00" in page  # bank
            assert "$0.00" in page  # difference

    def test_says_what_is_in_the_way(self, desk, account):
        take(bai2_of(MONDAY, 300))
        page = shown(desk)
        assert "Nothing explains 1 line of the bank up to November 16, 2026" in page
        assert "Close Nov 16" not in page
        assert "Nothing explains 1 line" in told(desk, f"{OF_RAIL}2026-11-16/close/")
        assert not ClosedDay.objects.exists()

    def test_closes_a_day_and_shows_it_closed(self, desk, sam, account, acme):
        book(acme, MONDAY, 5_000)
        take(bai2_of(MONDAY, 5_000))
        match_all(MONDAY)
        assert "Close Nov 16" in shown(desk)

        page = told(desk, f"{OF_RAIL}2026-11-16/close/")

        assert "November 16, 2026 is closed at a difference of $0.00." in page
        assert f"by {sam.email}" in page
        assert ClosedDay.objects.get().closed_by == sam.pk
        assert actions()[-1] == "day.closed"
        assert "$10,050.00" in shown(desk, OF_RAIL)

        page = shown(desk)
        assert "Monday, November 16, 2026</a> is closed." in page
        assert "The next statement is not here yet" in page
        assert "$10,050.00" in page  # what the bank said last
        assert "Close Nov 16" not in page

    def test_leads_to_what_only_a_later_statement_shows(self, desk, account, acme):
        waits, late = book(acme, MONDAY, 5_000, 700)
        take(bai2_of(MONDAY))
        take(bai2_of(TUESDAY, 700))
        match_all(TUESDAY)

        assert "2 lines" in shown(desk, f"{OF_RAIL}2026-11-16/")
        page = shown(desk, f"{OF_RAIL}2026-11-16/transit/")
        assert f">{waits}<" in page
        assert f">{late}<" in page
        assert f">{late}<" not in shown(desk, f"{OF_RAIL}2026-11-17/transit/")

    def test_tells_apart_what_the_bank_showed_first(self, desk, account, acme):
        (early,) = book(acme, TUESDAY, 700)
        take(bai2_of(MONDAY, 700))
        match_all(MONDAY)
        path = f"{OF_RAIL}2026-11-16/"

        for is_closed in (False, True):
            assert bool(ClosedDay.objects.count()) is is_closed
            assert "Plus what the bank showed first" in shown(desk, f"{OF_RAIL}2026-11-16/")
            assert "Nothing is in transit." in shown(desk, f"{path}transit/")
            assert f">{early}<" in shown(desk, f"{path}ahead/")
            told(desk, f"{OF_RAIL}2026-11-16/close/")

    def test_leads_from_in_transit_to_its_lines_and_takes_a_note(self, desk, account, acme):
        (line,) = book(acme, MONDAY, 5_000)
        take(bai2_of(MONDAY))
        page = shown(desk, f"{OF_RAIL}2026-11-16/transit/")
        assert "Nothing is in transit." in page  # nobody has taken it from the books yet
        match_all(MONDAY)
        page = shown(desk, f"{OF_RAIL}2026-11-16/transit/")
        assert f">{line}<" in page
        assert "$50.00" in page

        path = f"{OF_RAIL}books/{line}/"
        until = "2026-12-01"
        assert "A note holds for 30 days" in told(desk, path, until="2029-01-01", reason=REASON)
        told(desk, path, until=until, reason=REASON)

        note = TransitNote.objects.get()
        assert (note.line, note.until.isoformat()) == (line, until)
        assert REASON in shown(desk, f"{OF_RAIL}2026-11-16/transit/")

    @pytest.mark.parametrize(
        "path",
        [
            "rails/nosuch/",
            f"rails/{RAIL}/2026-11-17/",
            f"rails/{RAIL}/2026-02-30/",
            f"rails/{RAIL}/friday/",
            f"rails/{RAIL}/2026-11-16/transit/?after=x",
            f"rails/{RAIL}/2026-11-16/transit/?age=4",
            f"rails/{RAIL}/2026-11-16/books/?after=x",
            f"rails/{RAIL}/2026-02-30/ahead/",
            f"rails/{RAIL}/books/{2**70}/",
            "matches/mat_none/",
            "matches/%00/",
            f"lines/{2**70}/match/",
            "lines/1/book/",
            "suspense/bkl_none/",
            "clearings/clr_none/",
        ],
    )
    def test_of_nothing_is_not_found(self, desk, account, path):
        assert desk.get(f"{HOME}{path}").status_code == 404


class TestFromFiguresToLines:
    DAY = f"{OF_RAIL}2026-11-16/"

    def test_books_lead_to_each_line_that_they_count(self, desk, account, acme):
        matched, in_transit = book(acme, MONDAY, 5_000, -700)
        (later,) = book(acme, TUESDAY, 90)
        take(bai2_of(MONDAY, 5_000))
        (match,) = match_all(MONDAY)
        assert f"{self.DAY}books/" in shown(desk, self.DAY)
        assert f"{self.DAY}books/" in shown(desk)

        for is_closed in (False, True):
            assert ClosedDay.objects.exists() is is_closed
            page = shown(desk, f"{self.DAY}books/")
            assert "$10,000.00, as was agreed on" in page
            assert "$10,043.00" in page
            assert f'/matches/{match.pk}/">{matched}</a>' in page
            assert f">{in_transit}<" in page
            assert f">{later}<" not in page
            told(desk, f"{OF_RAIL}2026-11-16/close/")

        page = shown(desk, f"{OF_RAIL}2026-11-17/books/")
        assert f'<a class="desk-underlined" href="{self.DAY}">$10,043.00</a>' in page
        assert "$10,043.90" in page
        assert f">{later}<" in page
        assert f">{matched}<" not in page

    def test_in_transit_leads_to_the_lines_of_its_age(self, desk, account, acme):
        (old,) = book(acme, MONDAY, 100)
        (older_than_new,) = book(acme, TUESDAY, 200)
        (new,) = book(acme, FRIDAY, 300)
        for day in (MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY):
            take(bai2_of(day))
        expecting.take(RAIL, now=NOW)
        path = f"{OF_RAIL}2026-11-20/transit/"
        page = shown(desk, f"{OF_RAIL}2026-11-20/")
        assert f'href="{path}?age=0">1 line<' in page
        assert f'href="{path}?age=3">2 lines<' in page

        lines = {age: shown(desk, f"{path}?age={age}") for age in (0, 1, 2, 3)}

        assert [f">{new}<" in page for page in lines.values()] == [True, False, False, False]
        for line in (old, older_than_new):
            assert [f">{line}<" in page for page in lines.values()] == [False, False, False, True]
        assert all(f">{line}<" in shown(desk, path) for line in (old, older_than_new, new))

    def test_history_leads_from_each_figure(self, desk, account, acme):
        book(acme, MONDAY, 5_000)
        take(bai2_of(MONDAY))
        match_all(MONDAY)
        told(desk, f"{OF_RAIL}2026-11-16/close/")
        page = shown(desk, OF_RAIL)
        statement = ClosedDay.objects.get().statement_id
        for path in (f"{self.DAY}books/", f"{self.DAY}transit/", f"/statements/{statement}/"):
            assert f'{path}">$' in page

    def test_a_fee_leads_to_its_line_of_the_statement(self, desk, account):
        take(of_kinds(MONDAY, ("fee", -700), ("credit", 300)))
        booking.book_open(RAIL, None, now=NOW)
        fee = BookedLine.objects.get(booked_as="fee")
        assert f'/suspense/{fee.pk}/">' in shown(desk, f"{self.DAY}books/")
        page = shown(desk, f"{HOME}suspense/{fee.pk}/")
        assert "Fee of the bank" in page
        address = f"/admin/desk/statements/{fee.line.statement_id}/?after={fee.line.position - 1}"
        assert f'href="{address}#line-{fee.line.position}"' in page
        assert f'id="line-{fee.line.position}"' in shown(desk, address)

    def test_a_dishonor_and_a_clearing_lead_to_what_they_are_about(self, acme, account):
        take(of_kinds(MONDAY, ("credit", 300)))
        booking.book_open(RAIL, None, now=NOW)
        booked = BookedLine.objects.get()
        cleared = Clearing.objects.create(
            booked=booked, kind="income", reason="x", proposed_by="ann", proposed_at=NOW
        )
        dishonors = [
            ReturnDishonor.objects.create(
                tenant=acme,
                subject_id=subject,
                direction=direction,
                network="ach",
                amount=500,
                dishonored=InboundEvent.objects.create(
                    network="ach",
                    event_id=f"evt_{direction}",
                    instruction_id=subject,
                    kind="return_dishonored",
                    amount=500,
                    currency="USD",
                    occurred_at=NOW,
                    received_at=NOW,
                    outcome="review",
                ),
                counted_at=NOW,
                created_at=NOW,
                changed_at=NOW,
            )
            for direction, subject in (("in", "ftx_1"), ("out", "pay_1"))
        ]
        causes = [
            Cause("clearing", cleared.pk, ""),
            *(Cause("return_dishonor", each.pk, acme.pk) for each in dishonors),
            Cause("somebody_else", "x_1", ""),
        ]
        assert origins.pages_of(causes) == {
            cleared.pk: f"{HOME}suspense/{booked.pk}/",
            dishonors[0].pk: "/admin/desk/funding/ftx_1/",
            dishonors[1].pk: "/admin/desk/payments/pay_1/",
        }


class TestThePageOfADay:
    def test_closes_the_day_and_leads_to_the_days_beside_it(self, desk, account, acme):
        for day in (MONDAY, TUESDAY, WEDNESDAY):
            take(bai2_of(day))
        tuesday = f"{OF_RAIL}2026-11-17/"
        page = shown(desk, tuesday)
        assert f'rel="prev" href="{OF_RAIL}2026-11-16/"' in page
        assert f'rel="next" href="{OF_RAIL}2026-11-18/"' in page
        assert "November 16, 2026 closes first." in page
        assert "Close Nov" not in page
        first = shown(desk, f"{OF_RAIL}2026-11-16/")
        assert "Close Nov 16" in first
        assert 'rel="prev"' not in first

        told(desk, f"{OF_RAIL}2026-11-16/close/")

        assert "Close Nov 17" in shown(desk, tuesday)
        assert "Close Nov" not in shown(desk, f"{OF_RAIL}2026-11-16/")

    def test_closes_one_day_if_the_button_is_pressed_twice(self, desk, account):
        for day in (MONDAY, TUESDAY):
            take(bai2_of(day))
        told(desk, f"{OF_RAIL}2026-11-16/close/")

        page = told(desk, f"{OF_RAIL}2026-11-16/close/")

        assert "November 16, 2026 is closed already." in page
        assert ClosedDay.objects.get().day == MONDAY

    def test_closes_no_other_day_than_the_one_that_was_looked_at(self, desk, account):
        for day in (MONDAY, TUESDAY):
            take(bai2_of(day))

        page = told(desk, f"{OF_RAIL}2026-11-17/close/")

        assert page.count("November 16, 2026 closes first.") == 2  # what was tried, and why
        assert not ClosedDay.objects.exists()

    @pytest.mark.parametrize("day", ["2026-11-18", "tomorrow", "2026-02-31"])
    def test_closes_no_day_without_a_statement(self, desk, account, day):
        take(bai2_of(MONDAY))

        assert desk.post(f"{OF_RAIL}{day}/close/").status_code == 404
        assert not ClosedDay.objects.exists()

    def test_says_what_keeps_it_open_in_place_of_the_button(self, desk, account):
        take(bai2_of(MONDAY, 300))
        page = told(desk, f"{OF_RAIL}2026-11-16/close/")
        assert page.count("Nothing explains 1 line of the bank") == 2  # what was tried, and why
        assert "Close Nov 16" not in page
        assert "<dt>Unmatched lines of the bank</dt>" in page

    def test_says_which_line_looks_like_which(self, desk, account):
        _, again = state(*[Posted(3_000, "THEIRS", "credit", number=4711)] * 2)
        running.run(RAIL, now=NOW)
        first, second = StatementLine.objects.order_by("pk").values_list("position", flat=True)
        words = f"Line {second} of November 16, 2026 looks like line {first} of"

        for path in (f"{OF_RAIL}2026-11-16/", f"{OF_RAIL}open/", f"{HOME}lines/{again}/match/"):
            assert words in shown(desk, path)


class TestMatchingByHand:
    def test_offers_the_same_amount_first_and_then_the_nearest_days(self, desk, account, acme):
        (far,) = book(acme, MONDAY, 3_000)
        (other,) = book(acme, TUESDAY, 1_000)
        (near,) = book(acme, WEDNESDAY, 1_000)
        (same,) = book(acme, THURSDAY, 3_000)
        (out,) = book(acme, WEDNESDAY, -3_000)
        for day in (MONDAY, TUESDAY):
            take(bai2_of(day))
        take(of_kinds(WEDNESDAY, ("batch", 3_000)))
        expecting.take(RAIL, now=NOW)

        page = shown(desk, f"{HOME}lines/{a_line().pk}/match/")

        offered = [int(value) for value in re.findall(r'name="books" value="(\d+)"', page)]
        assert offered == [same, far, near, other]
        assert out not in offered

    def test_matches_the_chosen_lines(self, desk, sam, account, acme):
        first, second, _third = book(acme, MONDAY, 3_000, 2_000, 900)
        take(of_kinds(MONDAY, ("batch", 5_000)))
        expecting.take(RAIL, now=NOW)
        page = shown(desk, f"{OF_RAIL}open/")
        path = f"{HOME}lines/{a_line().pk}/match/"
        assert path in page
        assert "$30.00" in shown(desk, path)
        assert "$30.00" not in shown(desk, f"{path}?amount=9.00")
        assert "None fits" in shown(desk, f"{path}?amount=-9.00")
        assert "Enter an amount like" in shown(desk, f"{path}?amount=nine")

        wrong = told(desk, path, books=[first], reason=REASON)
        assert "different sums" in wrong
        assert not Match.objects.exists()
        told(desk, path, books=[first, second], reason=REASON)

        match = Match.objects.get()
        assert (match.rule, match.made_by, match.expected_lines) == (Rule.PERSON, sam.pk, 2)
        assert actions()[-1] == "statement_line.matched"
        page = shown(desk, f"{HOME}matches/{match.pk}/")
        assert all(text in page for text in ("$30.00", "$20.00", REASON))

    def test_needs_a_reason_and_keeps_what_was_chosen(self, desk, account, acme):
        (line,) = book(acme, MONDAY, 3_000)
        take(of_kinds(MONDAY, ("batch", 3_000)))
        expecting.take(RAIL, now=NOW)
        page = told(desk, f"{HOME}lines/{a_line().pk}/match/", books=[line], reason="")
        assert f'value="{line}" data-amount="3000" checked' in page
        assert not Match.objects.exists()

    def test_lists_no_line_of_nothing(self, desk, account):
        take(bai2_of(MONDAY, 300))
        line = a_line()
        line.pk, line.position, line.digest, line.amount = None, line.position + 1, "0" * 64, 0
        line.save(force_insert=True)
        page = shown(desk, f"{OF_RAIL}open/")
        assert page.count("Match line") == 1
        assert "$3.00" in page

    def test_unmatches_lines_until_their_day_is_closed(self, desk, account, acme):
        (line,) = book(acme, MONDAY, 5_000)
        take(bai2_of(MONDAY, 5_000))
        (match,) = match_all(MONDAY)
        path = f"{HOME}matches/{match.pk}/"
        assert ">Unmatch</a>" in shown(desk, path)
        told(desk, f"{path}unmatch/", reason=REASON)
        match.refresh_from_db()
        assert match.voided_why == REASON
        assert "<dt>Unmatched</dt>" in shown(desk, path)
        assert actions()[-1] == "statement_line.unmatched"

        told(desk, f"{HOME}lines/{a_line().pk}/match/", books=[line], reason=REASON)
        again = Match.objects.get(voided_at=None)
        told(desk, f"{OF_RAIL}2026-11-16/close/")
        page = told(desk, f"{HOME}matches/{again.pk}/unmatch/", reason=REASON)
        assert "closed" in page
        again.refresh_from_db()
        assert again.voided_at is None


class TestSuspense:
    @pytest.fixture
    def booked(self, account):
        take(of_kinds(MONDAY, ("credit", 4_200)))
        booking.book_open(RAIL, None, now=NOW)
        return BookedLine.objects.get()

    def test_a_line_that_waits_is_booked_by_a_person(self, desk, account):
        take(of_kinds(MONDAY, ("return", -4_200)))
        path = f"{HOME}lines/{a_line().pk}/book/"
        told(desk, path, reason=REASON)
        assert BookedLine.objects.get().reason == REASON
        assert actions()[-1] == "statement_line.booked"
        assert "$42.00" in shown(desk, f"{HOME}suspense/")

    def test_is_cleared_by_two(self, desk, kim, booked):
        page = f"{HOME}suspense/{booked.pk}/"
        assert "1 line" in shown(desk)
        assert "Choose what it was." in told(desk, f"{page}clear/", reason=REASON)
        assert "not possible any more" in told(desk, f"{page}clear/", what="fee", reason=REASON)
        told(desk, f"{page}clear/", what="income", reason=REASON)
        clearing = Clearing.objects.get()
        decide = f"{HOME}clearings/{clearing.pk}/"
        assert "waits for a second person" in shown(desk, f"{HOME}suspense/")

        told(desk, decide, decision="approve")
        clearing.refresh_from_db()
        assert clearing.is_open  # nobody approves what they propose

        told(kim, decide, decision="approve")
        clearing.refresh_from_db()
        assert clearing.status == "approved"
        assert actions()[-1] == "clearing.approved"
        assert "Nothing lies in suspense." in shown(kim, f"{HOME}suspense/")
        assert "Approved" in shown(kim, page)

    def test_a_rejection_says_why_and_leaves_the_line(self, desk, kim, booked):
        told(desk, f"{HOME}suspense/{booked.pk}/clear/", what="income", reason=REASON)
        clearing = Clearing.objects.get()
        decide = f"{HOME}clearings/{clearing.pk}/"
        told(kim, decide, reason="It is a tenant's")
        clearing.refresh_from_db()
        assert (clearing.status, clearing.refusal) == ("rejected", "It is a tenant's")
        assert "Nobody has said yet what it was." in shown(kim, f"{HOME}suspense/")

    def test_offers_what_has_the_same_amount(self, desk, kim, account, acme):
        take(of_kinds(MONDAY, ("credit", 4_200), ("debit", -4_200), ("debit", -100)))
        booking.book_open(RAIL, None, now=NOW)
        came, other, left = BookedLine.objects.order_by("-amount")
        (late,) = book(acme, TUESDAY, 4_200)
        book(acme, TUESDAY, 4_300)
        expecting.take(RAIL, now=NOW)
        northwind = live("Northwind")
        adjust(northwind, 4_200)
        adjust(northwind, -4_200)
        adjust(make_tenant(name="Sandbox"), 4_200)
        (adjustment,) = suspense.unexplained_adjustments().filter(type="credit")

        page = shown(desk, f"{HOME}suspense/{came.pk}/clear/")

        offered = re.findall(r'name="what" value="([^"]+)"', page)
        assert offered == [
            "income",
            f"adjustment:{adjustment.pk}",
            f"ledger:{late}",
            f"offset:{left.pk}",
        ]
        assert other.amount == -100
        told(desk, f"{HOME}suspense/{came.pk}/clear/", what=f"ledger:{late}", reason=REASON)
        told(kim, f"{HOME}clearings/{Clearing.objects.get().pk}/", decision="approve")
        assert Clearing.objects.get().status == "approved"
        assert Clearing.objects.get().expected_line == late

    def test_names_adjustments_that_no_line_of_a_bank_explains(self, desk, kim, account):
        take(of_kinds(MONDAY, ("credit", 4_200)))
        booking.book_open(RAIL, None, now=NOW)
        northwind = live("Northwind")
        adjust(northwind, 4_200)
        adjust(northwind, -900)
        explained = suspense.unexplained_adjustments().get(type="credit")
        for path in (HOME, f"{OF_RAIL}2026-11-16/"):
            page = shown(desk, path)
            assert "2 adjustments</a>, $42.00 credited, $9.00 debited" in page
            assert f'href="{HOME}suspense/#adjustments"' in page
        assert explained.pk in shown(desk, f"{HOME}suspense/")

        booked = BookedLine.objects.get()
        what = f"adjustment:{explained.pk}"
        told(desk, f"{HOME}suspense/{booked.pk}/clear/", what=what, reason=REASON)
        assert explained.pk in shown(desk, f"{HOME}suspense/")  # nobody has approved it yet
        told(kim, f"{HOME}clearings/{Clearing.objects.get().pk}/", decision="approve")

        page = shown(desk, f"{HOME}suspense/")
        assert explained.pk not in page
        assert "by −$9.00" in page
        assert "1 adjustment</a>, $0.00 credited, $9.00 debited" in shown(desk)

    def test_to_approve_destroys_nothing(self, desk, kim, booked):
        told(desk, f"{HOME}suspense/{booked.pk}/clear/", what="income", reason=REASON)
        page = shown(kim, f"{HOME}clearings/{Clearing.objects.get().pk}/")
        assert 'value="approve">Approve' in page
        assert "desk-button--bad" not in page
        assert page.count("desk-button--primary") == 1

    def test_both_lines_of_an_offset_wait_for_a_second_person(self, desk, account):
        take(of_kinds(MONDAY, ("credit", 4_200), ("debit", -4_200)))
        booking.book_open(RAIL, None, now=NOW)
        came, left = BookedLine.objects.order_by("amount").reverse()
        path = f"{HOME}suspense/{came.pk}/clear/"
        told(desk, path, what=f"offset:{left.pk}", reason=REASON)
        page = shown(desk, f"{HOME}suspense/")
        assert page.count("waits for a second person") == 2
        assert "Say what it was" not in shown(desk, f"{HOME}suspense/{left.pk}/")

    def test_finds_a_line_by_its_amount(self, desk, account):
        take(of_kinds(MONDAY, *(("credit", cents) for cents in range(101, 160)), ("debit", -159)))
        booking.book_open(RAIL, None, now=NOW)
        page, path = f"{HOME}suspense/", f"{HOME}suspense/bkl_"
        assert shown(desk, page).count(path) == 50

        assert shown(desk, f"{page}?amount=1.59").count(path) == 1
        assert "<strong>−$1.59</strong>" in shown(desk, f"{page}?amount=-1.59")
        assert "Nothing of this amount" in shown(desk, f"{page}?amount=9,999.00")
        wrong = shown(desk, f"{page}?amount=much")
        assert "Enter an amount like 2,500.00" in wrong
        assert wrong.count(path) == 50

    def test_more_than_a_page_of_lines_are_counted_all(self, desk, account):
        take(of_kinds(MONDAY, *(("credit", cents) for cents in range(101, 152))))
        booking.book_open(RAIL, None, now=NOW)
        assert ">51 lines<" in shown(desk)
        assert "The oldest 50 are shown." in shown(desk, f"{HOME}suspense/")


class TestWhoMay:
    @pytest.mark.parametrize(
        ("path", "method"),
        [
            ("", "get"),
            (f"rails/{RAIL}/", "get"),
            (f"rails/{RAIL}/open/", "get"),
            (f"rails/{RAIL}/2026-11-16/close/", "post"),
            ("suspense/", "get"),
            ("lines/1/match/", "get"),
            ("lines/1/book/", "get"),
            ("suspense/bkl_1/clear/", "get"),
            ("clearings/clr_1/", "post"),
            ("matches/mat_1/unmatch/", "post"),
            (f"rails/{RAIL}/books/1/", "post"),
        ],
    )
    def test_nobody_without_the_permission(self, staff_with, account, path, method):
        browser = staff_with("tenants.view_tenant")
        assert getattr(browser, method)(f"{HOME}{path}").status_code == 403

    def test_who_only_reads_sees_no_buttons(self, account, acme):
        reader = browser_of(make_staff("rea@ballast.example", ["reconciliation.view_closedday"]))
        book(acme, MONDAY, 5_000)
        take(bai2_of(MONDAY, 5_000))
        match_all(MONDAY)
        page = shown(reader)
        assert "Close Nov 16" not in page
        assert reader.post(f"{OF_RAIL}2026-11-16/close/").status_code == 403
        assert not ClosedDay.objects.exists()


def test_a_day_of_many_matches_has_pages(desk, account, acme):
    book(acme, MONDAY, *range(1_001, 1_061))
    take(bai2_of(MONDAY, *range(1_001, 1_061)))
    match_all(MONDAY)
    page = shown(desk, f"{OF_RAIL}2026-11-16/")
    assert page.count("/matches/") == 50
    assert "before=" in page
