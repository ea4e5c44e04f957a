"""Reconciliation at the desk: the day at a glance, the lines behind each figure, matching by hand,
suspense by two people, and days that close."""

from __future__ import annotations

import html

import pytest

from reconciliation import booking, expecting
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
from tests.builders import browser_of, make_staff
from tests.networks.ach.inbound.builders import RAIL, make_rail
from tests.reconciliation import statements
from tests.reconciliation.books import book, match_all
from tests.reconciliation.statements import (
    MONDAY,
    NOW,
    TUESDAY,
    bai2_of,
    of_kinds,
    take,
)

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
        assert "Nothing explains 1 line" in told(desk, f"{OF_RAIL}close/")
        assert not ClosedDay.objects.exists()

    def test_closes_a_day_and_shows_it_closed(self, desk, sam, account, acme):
        book(acme, MONDAY, 5_000)
        take(bai2_of(MONDAY, 5_000))
        match_all(MONDAY)
        assert "Close Nov 16" in shown(desk)

        page = told(desk, f"{OF_RAIL}close/")

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
        path = f"{OF_RAIL}2026-11-16/transit/"

        for is_closed in (False, True):
            assert bool(ClosedDay.objects.count()) is is_closed
            assert "Plus what the bank showed first" in shown(desk, f"{OF_RAIL}2026-11-16/")
            in_transit, ahead = shown(desk, path).split("Shown by the bank first")
            assert "Nothing is in transit." in in_transit
            assert f">{early}<" in ahead
            told(desk, f"{OF_RAIL}close/")

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


class TestMatchingByHand:
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

    def test_takes_a_match_apart_until_its_day_is_closed(self, desk, account, acme):
        (line,) = book(acme, MONDAY, 5_000)
        take(bai2_of(MONDAY, 5_000))
        (match,) = match_all(MONDAY)
        path = f"{HOME}matches/{match.pk}/"
        assert "Take it apart" in shown(desk, path)
        told(desk, f"{path}take-apart/", reason=REASON)
        match.refresh_from_db()
        assert match.voided_why == REASON
        assert "Taken apart" in shown(desk, path)
        assert actions()[-1] == "statement_line.taken_apart"

        told(desk, f"{HOME}lines/{a_line().pk}/match/", books=[line], reason=REASON)
        again = Match.objects.get(voided_at=None)
        told(desk, f"{OF_RAIL}close/")
        page = told(desk, f"{HOME}matches/{again.pk}/take-apart/", reason=REASON)
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
        assert "Money came, so it was no fee" in told(
            desk, f"{page}clear/", kind="fee", reason=REASON
        )
        assert "Enter the id of the adjustment." in told(
            desk, f"{page}clear/", kind="adjustment", reason=REASON
        )
        assert "There is no such line in suspense." in told(
            desk, f"{page}clear/", kind="offset", other="bkl_1", reason=REASON
        )
        told(desk, f"{page}clear/", kind="income", reason=REASON)
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
        told(desk, f"{HOME}suspense/{booked.pk}/clear/", kind="income", reason=REASON)
        clearing = Clearing.objects.get()
        decide = f"{HOME}clearings/{clearing.pk}/"
        told(kim, decide, reason="It is a tenant's")
        clearing.refresh_from_db()
        assert (clearing.status, clearing.refusal) == ("rejected", "It is a tenant's")
        assert "Nobody has said yet what it was." in shown(kim, f"{HOME}suspense/")

    def test_both_lines_of_an_offset_wait_for_a_second_person(self, desk, account):
        take(of_kinds(MONDAY, ("credit", 4_200), ("debit", -4_200)))
        booking.book_open(RAIL, None, now=NOW)
        came, left = BookedLine.objects.order_by("amount").reverse()
        path = f"{HOME}suspense/{came.pk}/clear/"
        told(desk, path, kind="offset", other=left.pk, reason=REASON)
        page = shown(desk, f"{HOME}suspense/")
        assert page.count("waits for a second person") == 2
        assert "Say what it was" not in shown(desk, f"{HOME}suspense/{left.pk}/")

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
            (f"rails/{RAIL}/close/", "post"),
            ("suspense/", "get"),
            ("lines/1/match/", "get"),
            ("lines/1/book/", "get"),
            ("suspense/bkl_1/clear/", "get"),
            ("clearings/clr_1/", "post"),
            ("matches/mat_1/take-apart/", "post"),
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
        assert reader.post(f"{OF_RAIL}close/").status_code == 403
        assert not ClosedDay.objects.exists()


def test_a_day_of_many_matches_has_pages(desk, account, acme):
    book(acme, MONDAY, *range(1_001, 1_061))
    take(bai2_of(MONDAY, *range(1_001, 1_061)))
    match_all(MONDAY)
    page = shown(desk, f"{OF_RAIL}2026-11-16/")
    assert page.count("/matches/") == 50
    assert "before=" in page
