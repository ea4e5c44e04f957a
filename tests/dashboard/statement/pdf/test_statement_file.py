"""The statement of a month as PDF, read back from the file."""

from __future__ import annotations

import re
import time
from datetime import UTC, date, datetime, timedelta
from io import BytesIO

import pytest
from pypdf import PdfReader

from balance import services as ledger
from balance import statements
from common import days, ids
from common.clock import utc_now
from dashboard.statement.pdf import printing, responses, turns, views
from dashboard.statement.pdf.content import DoesNotAddUp, content
from tenants.models import AuditEvent, Tenant
from tests.balance.builders import fund, movement
from tests.builders import make_member

OCTOBER = date(2026, 10, 1)
PATH = "/dashboard/statements/2026-10.pdf"


def at(day, hour=15, month=10):
    return datetime(2026, month, day, hour, tzinfo=UTC)


@pytest.fixture
def october(acme):
    """$1,000.00 from September; $250.00 came in October, and $300.00 were set aside and paid."""
    fund(acme, 100_000, now=at(10, month=9))
    paid = {"source_id": ids.new("pay"), "description": "Payment of rent"}
    return [
        fund(acme, 25_000, now=at(2), description="Top-up"),
        ledger.lock(**movement(acme, 30_000, now=at(3), **paid)),
        ledger.settle(**movement(acme, 30_000, now=at(5), **paid)),
    ]


def file_of(browser, path=PATH):
    response = browser.get(path)
    assert (response.status_code, response["Content-Type"]) == (200, "application/pdf")
    return PdfReader(BytesIO(response.content))


def text_of(reader):
    """All pages, with one space for every gap."""
    return " ".join(" ".join(page.extract_text() for page in reader.pages).split())


class TestFile:
    def test_has_every_line_with_its_amounts(self, october, dana_browser):
        text = text_of(file_of(dana_browser))

        first, second, third = (str(line.id) for line in october)
        assert (
            f"Oct 2, 2026 11:00 AM EDT Top-up Credit {first} +$250.00 $0.00 $1,250.00 "
            f"Oct 3, 2026 11:00 AM EDT Payment of rent Lock, set aside {second} "
            "−$300.00 +$300.00 $950.00 "
            f"Oct 5, 2026 11:00 AM EDT Payment of rent Settlement, from locked {third} "
            "$0.00 −$300.00 $950.00"
        ) in text
        assert text.count("btx_") == 3 + 2  # and the first and the last line, to check by

    def test_leads_from_the_opening_to_the_closing_balance(self, october, dana_browser):
        text = text_of(file_of(dana_browser))

        assert (
            "Opening balance $1,000.00 $0.00 Credit 1 +$250.00 $0.00 Lock 1 −$300.00 +$300.00 "
            "Settlement 1 $0.00 −$300.00 Closing balance 3 $950.00 $0.00"
        ) in text

    def test_says_how_to_check_it(self, october, dana_browser, settings):
        settings.BASE_URL = "https://ballast.example"

        text = text_of(file_of(dana_browser))

        assert "Available: $1,000.00 − $50.00 = $950.00. Set aside: $0.00 + $0.00 = $0.00." in text
        ends = f"Lines 3 First line {october[0].id} Last line {october[2].id}"
        assert ends in text
        assert (
            "A line keeps its ID, moment and amounts, so a later copy of this file has the same "
            "ones. Names are those of the day on which a copy is created."
        ) in text
        csv = "https://ballast.example/dashboard/transactions.csv?since=2026-10-01&until=2026-10-31"
        assert csv in text.replace(" ", "")

    def test_says_whose_it_is(self, acme, october, dana_browser, settings):
        settings.BASE_URL = "https://ballast.example"

        text = text_of(file_of(dana_browser))

        letterhead = f"Ballast https://ballast.example {acme.name} {acme.pk}"
        assert text.startswith(
            f"{letterhead} Statement, October 2026 October 1, 2026 to October 31"
        )

    def test_is_tagged_and_has_a_title_a_language_and_its_own_fonts(self, october, dana_browser):
        reader = file_of(dana_browser)

        root = reader.trailer["/Root"]
        assert root["/MarkInfo"]["/Marked"].value is True
        assert root["/Lang"].startswith("en")
        assert root["/ViewerPreferences"]["/DisplayDocTitle"].value is True
        assert "pdfuaid:part>1<" in root["/Metadata"].get_data().decode().replace(" ", "")
        assert reader.metadata.title == "Statement, October 2026"
        assert reader.metadata.author == "Ballast"
        found = list(fonts(reader))
        assert found
        assert [name for name, is_embedded in found if not is_embedded] == []
        assert {name.partition("+")[2].partition("-")[0] for name, _ in found} == {
            "LibertinusSerif",
            "DejaVuSansMono",
        }

    def test_has_headings_and_tables_with_headers(self, october, dana_browser):
        kinds = list(tags(file_of(dana_browser).trailer["/Root"]["/StructTreeRoot"]))

        assert kinds.count("/H1") == 3
        assert kinds.count("/Table") == 3
        assert kinds.count("/TH") == 4 + 5 + 2
        assert {"/Title", "/P"} & set(kinds)

    def test_numbers_its_pages(self, acme, dana_browser):
        for number in range(60):
            fund(acme, 100 + number, now=at(3) + timedelta(minutes=number))

        reader = file_of(dana_browser)

        count = len(reader.pages)
        assert count > 2
        for number, page in enumerate(reader.pages, 1):
            text = " ".join(page.extract_text().split())
            assert f"Page {number} of {count}" in text
            assert f"Ballast · {acme.name} · Statement, October 2026" in text
        assert len(re.findall(r"\+\$1\.[0-9]{2} \$0\.00", text_of(reader))) == 60

    def test_of_the_same_moment_is_the_same(self, acme, october):
        shown = content(
            statements.statement(tenant_id=acme.pk, first=OCTOBER, now=at(3, month=11)),
            lines_of(acme),
            tenant=acme,
            now=at(3, month=11),
        )

        one, other = (
            printing.typeset(responses.TEMPLATE, shown, at=at(3, month=11)) for _ in range(2)
        )

        assert one == other
        assert created_at(one) == at(3, month=11)

    def test_of_a_month_of_rest_says_so(self, acme, dana_browser):
        fund(acme, 100_000, now=at(10, month=9))

        text = text_of(file_of(dana_browser))

        assert "Nothing happened in this month. The balance stayed as it was." in text
        assert "First line" not in text
        assert "Opening balance $1,000.00 $0.00 Closing balance 0 $1,000.00 $0.00" in text


class TestMonths:
    def test_that_is_over_says_its_last_day_only(self, october, dana_browser):
        text = text_of(file_of(dana_browser))

        assert "October 1, 2026 to October 31, 2026, US Eastern time." in text
        assert "not over" not in text

    def test_that_goes_on_says_through_when_on_every_page(self, acme, dana_browser):
        fund(acme, 5_000)
        first = days.day_of(utc_now()).replace(day=1)

        reader = file_of(dana_browser, f"/dashboard/statements/{first:%Y-%m}.pdf")

        text = text_of(reader)
        moment = r"[A-Z][a-z]{2} \d{1,2}, \d{4}, \d{1,2}:\d\d [AP]M E[SD]T"
        assert re.search(rf"{first:%B} 1, {first.year} through {moment}, US Eastern time", text)
        assert re.search(rf"is not over\. This statement goes through {moment}\.", text)
        assert text.count("month not over") == len(reader.pages)

    @pytest.mark.parametrize(
        "month", ["2026-08", "2126-01", "2026-13", "2026-00", "0000-01", "2026-1", "026-10", "x"]
    )
    def test_that_is_none_is_not_found(self, october, dana_browser, month):
        assert dana_browser.get(f"/dashboard/statements/{month}.pdf").status_code == 404

    def test_of_another_tenant_are_not_found(self, rival, dana_browser):
        fund(rival, 77_700, now=at(3))

        assert dana_browser.get(PATH).status_code == 404

    def test_shows_nothing_of_another_tenant(self, october, rival, dana_browser):
        foreign = fund(rival, 77_700, now=at(3), description="Foreign")

        text = text_of(file_of(dana_browser))

        assert [word for word in (str(foreign.id), "Foreign", "$777.00") if word in text] == []


class TestWhatPeopleTyped:
    @pytest.mark.parametrize(
        ("typed", "shown"),
        [
            ('#import "/etc/passwd"', '#import "/etc/passwd"'),
            ('#read("statement.typ") ] [ } {', '#read("statement.typ") ] [ } {'),
            ("$x^2$ \\ *bold* _it_ `raw` <label> @ref", "$x^2$ \\ *bold* _it_ `raw` <label> @ref"),
            ("= Heading // no /* comment */ ~", "= Heading // no /* comment */ ~"),
            ("https://evil.example/#x", "https://evil.example/#x"),
            ('{"a": "\\u0022"}', '{"a": "\\u0022"}'),
            ("שלום", "שלום"),
            ("Żółć Ελλάδα Україна", "Żółć Ελλάδα Україна"),
            ("Rent 🏠", "Rent [house building]"),
            ("日本 Ltd", "□□ Ltd"),
        ],
    )
    def test_comes_out_as_text(self, acme, dana_browser, typed, shown):
        fund(acme, 100, now=at(3), description=typed)

        text = text_of(file_of(dana_browser))

        assert f"{shown} Credit btx_" in text
        assert ("A square (□) takes the place" in text) == ("□" in shown)

    def test_in_the_name_of_the_tenant_comes_out_as_text(self, dana_browser, acme):
        Tenant.objects.filter(pk=acme.pk).update(name='#panic() ] $ \\ "Acme" 🏠')
        fund(acme, 100, now=at(3))

        reader = file_of(dana_browser)

        assert '#panic() ] $ \\ "Acme" [house building]' in text_of(reader)

    def test_of_one_endless_word_stays_out_of_the_amounts(self, acme, dana_browser):
        fund(acme, 100, now=at(3), description="W" * 140)

        text = text_of(file_of(dana_browser))

        assert "W" * 140 in text.replace("\u200b", "").replace(" ", "")
        assert max(map(len, re.findall("W+", text))) <= 16  # letters in one line of the column


class TestLimits:
    def test_a_longer_month_is_left_to_the_csv_file(self, acme, october, dana_browser):
        with pytest.MonkeyPatch.context() as limits:
            limits.setattr(views, "LINES_MAX", 2)
            response = dana_browser.get(PATH)

        page = response.content.decode()
        assert response.status_code == 422
        assert "October 2026 has 3 lines. A PDF can have up to 2." in " ".join(page.split())
        assert "transactions.csv?since=2026-10-01&amp;until=2026-10-31" in page

    def test_a_month_of_long_texts_is_left_to_the_csv_file(self, acme, dana_browser):
        for minute in range(2):
            fund(acme, 100, now=at(3) + timedelta(minutes=minute), description="Я" * 100)

        with pytest.MonkeyPatch.context() as limits:
            limits.setattr(views, "TEXT_BYTES_MAX", 400)  # two for each letter
            at_the_limit = dana_browser.get(PATH)
            limits.setattr(views, "TEXT_BYTES_MAX", 399)
            response = dana_browser.get(PATH)

        page = " ".join(response.content.decode().split())
        assert (at_the_limit.status_code, response.status_code) == (200, 422)
        assert "The 2 lines of October 2026 have more text than a PDF can have." in page
        assert "transactions.csv?since=2026-10-01&amp;until=2026-10-31" in page

    def test_counts_as_a_file_of_its_person(self, october, dana_browser, settings):
        settings.FILES_PER_MINUTE = 1

        assert dana_browser.get(PATH).status_code == 200
        refused = dana_browser.get(PATH)

        assert refused.status_code == 429
        assert b"downloaded many files" in refused.content

    def test_who_finds_others_at_it_is_told_to_come_back(self, october, dana_browser):
        with printing._one_at_a_time:
            began = time.monotonic()
            response = dana_browser.get(PATH)
            seconds = time.monotonic() - began
        again = dana_browser.get(PATH)

        assert seconds < 5  # nobody holds a thread of the web process to wait for a turn
        assert (response.status_code, response["Retry-After"]) == (503, "10")
        assert "no-store" in response["Cache-Control"]
        assert "Content-Disposition" not in response
        assert b"The server is making a PDF for somebody else" in response.content
        assert again.status_code == 200

    def test_who_asks_twice_at_once_gets_one(self, dana, october, dana_browser):
        with turns.turn_of(dana.pk):
            refused = dana_browser.get(PATH)
        again = [dana_browser.get(PATH).status_code for _ in range(2)]

        assert (refused.status_code, refused["Retry-After"]) == (429, "10")
        assert "Content-Disposition" not in refused
        assert b"We are still making the PDF that you asked for before." in refused.content
        assert again == [200, 200]

    def test_who_asks_keeps_nobody_else_from_it(self, acme, october, dana, sign_in):
        lee = sign_in(make_member(acme, email="lee@acme.example"))

        with turns.turn_of(dana.pk):
            assert lee.get(PATH).status_code == 200

    def test_a_program_that_takes_too_long_is_ended(self, october, dana_browser):
        with pytest.MonkeyPatch.context() as limits:
            limits.setattr(printing, "PRINTING_SECONDS_MAX", 0.001)
            response = dana_browser.get(PATH)

        assert response.status_code == 503

    def test_is_in_the_audit_log(self, dana, october, dana_browser):
        dana_browser.get(PATH)

        event = AuditEvent.objects.get(action="file.downloaded")
        assert event.actor_id == dana.pk
        assert event.details["file"] == "statement-2026-10.pdf"

    def test_makes_no_file_for_who_asks_for_its_headers(self, october, dana_browser):
        with printing._one_at_a_time:  # whoever makes a file now would be answered 503
            response = dana_browser.head(PATH)

        assert (response.status_code, response["Allow"]) == (405, "GET")
        assert not AuditEvent.objects.filter(action="file.downloaded").exists()

    def test_is_an_attachment_that_nobody_keeps(self, october, dana_browser):
        response = dana_browser.get(PATH)

        assert response["Content-Disposition"] == 'attachment; filename="statement-2026-10.pdf"'
        assert "no-store" in response["Cache-Control"]

    def test_is_nothing_for_strangers(self, client, db):
        assert client.get(PATH).status_code == 302


class TestProof:
    def test_lines_that_do_not_add_up_make_no_file(self, acme, october):
        found = statements.statement(tenant_id=acme.pk, first=OCTOBER, now=at(3, month=11))
        lines = lines_of(acme)

        with pytest.raises(DoesNotAddUp):
            content(found, lines[:-1], tenant=acme, now=at(3, month=11))


def created_at(file):
    known = PdfReader(BytesIO(file)).metadata
    assert known is not None
    return known.creation_date


def lines_of(tenant):
    found = statements.statement(tenant_id=tenant.pk, first=OCTOBER, now=at(3, month=11))
    return statements.lines(tenant_id=tenant.pk, month=found.month)


def fonts(reader):
    """Name and whether its shapes are in the file, of every font of every page."""
    for page in reader.pages:
        for font in page["/Resources"]["/Font"].values():
            for descendant in font.get_object()["/DescendantFonts"]:
                descriptor = descendant.get_object()["/FontDescriptor"]
                embedded = {"/FontFile", "/FontFile2", "/FontFile3"} & set(descriptor)
                yield font.get_object()["/BaseFont"].removeprefix("/"), bool(embedded)


def tags(node):
    """The kinds of all elements below this one of the structure tree."""
    node = node.get_object()
    if isinstance(node, list):
        for each in node:
            yield from tags(each)
    elif isinstance(node, dict):
        if "/S" in node:
            yield str(node["/S"])
        if "/K" in node:
            yield from tags(node["/K"])
