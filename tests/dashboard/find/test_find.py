"""The search of the dashboard: what each role finds, and that nobody finds another tenant's."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape

import pytest
from django.urls import reverse

from api.models import ApiRequest
from balance import selectors as ledger
from common.clock import utc_now
from common.ids import lowest
from dashboard.find import pages
from dashboard.find.asked import IdSpan, read
from dashboard.find.kinds import KINDS
from dashboard.find.results import DAYS, SHOWN
from funding.models import FundingTransaction
from payments import selectors as payments
from payments.models import Payment
from payments.services import recipients
from tenants.actors import SYSTEM
from tenants.models import ApiKey, Role
from tests.balance.builders import fund
from tests.builders import NOW, make_funding, make_member, make_source
from tests.dashboard.shell.test_roles import RULES, things_of
from tests.payments.builders import account, pay

pytestmark = pytest.mark.django_db

PATH = "/dashboard/find"
# The id of a row of each kind, by its name among `things_of`.
OF_KIND = {
    "pay": "payment_id",
    "ftx": "funding_id",
    "rcp": "recipient_id",
    "fs": "source_id",
    "dau": "authorization_id",
    "evt": "event_id",
    "dlv": "delivery_id",
    "wh": "endpoint_id",
    "req": "request_pk",
    "key": "key_id",
    "cnf": "approval_id",
}


def ids_of(tenant):
    """One id of every kind of the tenant."""
    things = things_of(tenant)
    line = ledger.transactions(tenant.pk)[0]["id"]
    return {prefix: things[name] for prefix, name in OF_KIND.items()} | {"btx": line}


def found(browser, text, path=PATH):
    """The addresses and texts of what the page lists, in order."""
    page = browser.get(path, {"q": text})
    assert page.status_code == 200
    pattern = r'<a class="find__hit"[^>]* href="([^"]*)">(.*?)</a>'
    hits = re.findall(pattern, page.content.decode(), re.DOTALL)
    words = [(unescape(href), unescape(re.sub("<[^>]+>", " ", text))) for href, text in hits]
    return {href: " ".join(text.split()) for href, text in words}


def log(tenant, request_id):
    return ApiRequest.objects.create(
        tenant=tenant,
        key=ApiKey.objects.filter(tenant=tenant).earliest("pk"),
        request_id=request_id,
        method="POST",
        path="/api/v1/payments",
        status=402,
        duration_us=1,
        created_at=utc_now(),
    )


@pytest.fixture
def mine(acme):
    return ids_of(acme)


@pytest.fixture
def theirs(rival):
    return ids_of(rival)


def test_every_kind_is_in_the_table(mine):
    assert set(mine) == {kind.prefix for kind in KINDS} | {"cnf"}


class TestIds:
    def test_each_finds_its_row_alone(self, mine, dana_browser):
        hits = {prefix: found(dana_browser, pk) for prefix, pk in mine.items()}

        assert {prefix: len(lines) for prefix, lines in hits.items()} == dict.fromkeys(mine, 1)
        for prefix, lines in hits.items():
            (href,) = lines
            assert dana_browser.get(href).status_code == 200, prefix
            if prefix not in ("fs", "key"):  # whose pages are lists
                assert mine[prefix] in href

    def test_the_first_ten_letters_are_enough(self, mine, dana_browser):
        for prefix, pk in mine.items():
            beginning = pk[: len(prefix) + 1 + 10]

            assert found(dana_browser, beginning) == found(dana_browser, pk), prefix

    def test_fewer_are_not_looked_for(self, mine, dana_browser):
        text = mine["pay"][: len("pay_") + 9]
        page = dana_browser.get(PATH, {"q": text}).content.decode()

        assert found(dana_browser, text) == {}
        assert "type at least 10 characters after" in page

    def test_may_be_typed_in_capitals_between_blanks(self, mine, dana_browser):
        assert found(dana_browser, f"  {mine['pay'].upper()} ") == found(dana_browser, mine["pay"])

    def test_say_what_they_are(self, acme, dana_browser):
        fund(acme, 200_000)
        payment = pay(acme, 120_000)

        assert found(dana_browser, payment.pk) == {
            f"/dashboard/payments/{payment.pk}": (
                "$1,200.00 to Supplier LLC Ready to send ACH transfer · Nov 20, 2026, 10:00 AM EST"
            )
        }

    def test_a_removed_recipient_is_found_by_its_id_alone(self, acme, mine, dana_browser):
        recipients.remove(tenant_id=acme.pk, recipient_id=mine["rcp"], actor=SYSTEM, now=NOW)

        (words,) = found(dana_browser, mine["rcp"]).values()
        assert words.startswith("Supplier LLC Removed")
        assert found(dana_browser, "supplier llc") == {}


class TestAnotherTenants:
    @pytest.mark.parametrize("letters", [10, 26])
    def test_ids_are_not_found(self, mine, theirs, dana_browser, letters):
        for prefix, pk in theirs.items():
            assert found(dana_browser, pk[: len(prefix) + 1 + letters]) == {}, prefix

    def test_amounts_are_not_found(self, acme, rival, dana_browser):
        for tenant in (acme, rival):
            fund(tenant, 100_000)
        pay(rival, 7_700)
        make_funding(rival, make_source(rival), amount=7_700)

        assert found(dana_browser, "77.00") == {}

    def test_names_are_not_found(self, acme, rival, dana_browser):
        recipients.save(
            tenant_id=rival.pk, details=account(holder_name="Quietwater"), actor=SYSTEM, now=NOW
        )

        assert found(dana_browser, "quietwater") == {}

    def test_request_ids_are_not_found(self, mine, theirs, rival, dana_browser):
        log(rival, "their-trace-0001")

        assert found(dana_browser, "their-trace-0001") == {}


class TestAmounts:
    @pytest.fixture
    def rows(self, acme):
        fund(acme, 10_000_000)
        return pay(acme, 120_000), make_funding(acme, make_source(acme), amount=120_000)

    @pytest.mark.parametrize("typed", ["1200", "1,200.00", "$1,200", "$1200.00"])
    def test_are_found_however_they_are_typed(self, rows, dana_browser, typed):
        payment, funding = rows

        assert list(found(dana_browser, typed)) == [
            f"/dashboard/payments/{payment.pk}",
            f"/dashboard/funding/{funding.pk}",
        ]

    @pytest.mark.parametrize("typed", ["120", "1200.01", "12000", "-1200", "1,20", "0", "0.00"])
    def test_are_exact(self, rows, dana_browser, typed):
        assert found(dana_browser, typed) == {}

    def test_of_ninety_days_are_found_newest_first(self, acme, rows, dana_browser):
        payment, _funding = rows
        old, recent = (
            lowest("pay", utc_now() - timedelta(days=days)) for days in (DAYS + 1, DAYS - 1)
        )
        for pk in (old, recent):
            values = Payment.objects.filter(pk=payment.pk).values().get()
            Payment.objects.create(**values | {"id": pk})

        hits = list(found(dana_browser, "1200"))

        assert hits[:2] == [f"/dashboard/payments/{payment.pk}", f"/dashboard/payments/{recent}"]
        assert f"/dashboard/payments/{old}" not in hits

    def test_are_cut(self, acme, dana_browser):
        fund(acme, 1_000_000)
        made = [pay(acme, 1_234).pk for _ in range(SHOWN + 2)]

        assert list(found(dana_browser, "12.34")) == [
            f"/dashboard/payments/{pk}" for pk in reversed(made[2:])
        ]


class TestRecipients:
    @pytest.fixture
    def kept(self, acme):
        def save(number, name, nickname=""):
            return recipients.save(
                tenant_id=acme.pk,
                details=account(f"7700{number}", holder_name=name),
                nickname=nickname,
                actor=SYSTEM,
                now=NOW,
            ).pk

        return {
            "harbor": save(1, "Harbor Freight LLC"),
            "fresh": save(2, "Fresh Harbor Inc"),
            "renamed": save(3, "Zeta Corp", nickname="The harbor people"),
        }

    @pytest.mark.parametrize("typed", ["harbor", "HARBOR", "arbo"])
    def test_are_found_by_a_part_of_their_name(self, kept, dana_browser, typed):
        hits = [href.rpartition("/")[2] for href in found(dana_browser, typed)]

        assert set(hits) == set(kept.values())

    def test_those_that_begin_with_it_come_first(self, kept, dana_browser):
        hits = [href.rpartition("/")[2] for href in found(dana_browser, "harbor")]

        assert hits == [kept["harbor"], kept["fresh"], kept["renamed"]]

    def test_are_found_by_the_name_on_the_account_of_a_nickname(self, kept, dana_browser):
        assert list(found(dana_browser, "zeta")) == [f"/dashboard/recipients/{kept['renamed']}"]

    @pytest.mark.parametrize("typed", ["h", "%", "harb_r", "\\"])
    def test_need_two_letters_and_no_patterns(self, kept, dana_browser, typed):
        assert [href for href in found(dana_browser, typed) if "/recipients/rcp_" in href] == []

    def test_only_the_newest_are_read(self, acme, kept, monkeypatch):
        monkeypatch.setattr(payments, "SEARCHED_MAX", 1)

        rows = payments.recipients_called("harbor", tenant_id=acme.pk)

        assert [row.pk for row in rows] == [kept["renamed"]]


class TestRequestIds:
    def test_find_the_requests_that_had_it(self, acme, mine, dana_browser):
        rows = [log(acme, "trace-0001") for _ in range(2)]

        assert found(dana_browser, "trace-0001") == {
            f"/dashboard/requests/{row.pk}": text
            for row, text in zip(rows, found(dana_browser, "trace-0001").values(), strict=True)
        }

    def test_are_whole_and_exact(self, acme, mine, dana_browser):
        log(acme, "trace-0001")

        assert found(dana_browser, "trace-000") == {}
        assert found(dana_browser, "TRACE-0001") == {}


class TestPages:
    def test_are_found_by_name_and_by_what_else_people_call_them(self, dana_browser):
        assert next(iter(found(dana_browser, "audit"))) == "/dashboard/audit-log"
        assert "/dashboard/recipients" in found(dana_browser, "payee")
        assert "/dashboard/topup/" in found(dana_browser, "deposit")
        assert found(dana_browser, "second factor") == {"/accounts/2fa/": "Security"}

    def test_that_begin_with_it_come_first(self, dana_browser):
        assert list(found(dana_browser, "pay"))[:3] == [
            "/dashboard/pay/",
            "/dashboard/payments",
            "/dashboard/payments/limits",
        ]

    def test_are_offered_before_anything_is_typed(self, dana_browser):
        assert next(iter(found(dana_browser, ""))) == "/dashboard/"

    def test_have_the_roles_that_may_see_them(self):
        of_tenants = {
            page.view.partition(":")[2]: set(page.roles)
            for page in pages.PAGES
            if page.view.startswith("dashboard:")
        }

        assert of_tenants == {name: set(RULES[name].read or ()) for name in of_tenants}

    def test_lead_somewhere(self, dana_browser):
        for page in pages.PAGES:
            assert dana_browser.get(reverse(page.view)).status_code in (200, 302), page.title


@pytest.mark.parametrize("role", list(Role))
def test_a_role_finds_what_it_may_open(acme, mine, sign_in, role):
    browser = sign_in(make_member(acme, email=f"{role}@acme.example", role=role))
    hits = {
        href
        for text in ("", "key", "pay", "audit", "invite", "add", *mine.values())
        for href in found(browser, text)
    }

    assert {href for href in hits if browser.get(href).status_code not in (200, 302)} == set()
    assert (found(browser, mine["key"]) != {}) is (role in (Role.OWNER, Role.MEMBER))
    assert ("/dashboard/audit-log" in hits) is (role == Role.OWNER)


class TestTheDialog:
    def test_gets_choices_of_its_field(self, acme, mine, dana_browser):
        headers = {"HX-Request": "true", "X-Tenant": acme.pk}
        part = dana_browser.get(PATH, {"q": mine["pay"]}, headers=headers).content.decode()

        assert part.count('role="option"') == 1
        assert f'data-typed="{mine["pay"]}"' in part
        assert "<html" not in part

    def test_is_on_every_page_of_the_shell(self, dana_browser):
        page = dana_browser.get("/dashboard/payments").content.decode()

        assert page.count('<dialog class="find"') == 1
        assert 'href="/dashboard/find" data-find' in page

    def test_asks_for_the_tenant_that_its_window_shows(self, rival, dana_browser):
        headers = {"HX-Request": "true", "X-Tenant": rival.pk}
        part = dana_browser.get(PATH, {"q": "x"}, headers=headers)

        assert (part.content, part["HX-Refresh"]) == (b"", "true")


class TestWhatIsTyped:
    @pytest.mark.parametrize("typed", ["\0", "'; --", "é" * 20, "😀", "ftx_", "_", "$", "x" * 500])
    def test_may_be_anything(self, mine, dana_browser, typed):
        assert found(dana_browser, typed) == {} or not typed.strip("\0")

    def test_is_shown_as_text(self, dana_browser):
        page = dana_browser.get(PATH, {"q": '"><script>'}).content.decode()

        assert 'value="&quot;&gt;&lt;script&gt;"' in page

    def test_is_read_as_what_it_can_be(self):
        assert (read("1,200").cents, read("1,200").ids) == (120_000, None)
        assert read("pay_01kb").ids == IdSpan("pay", "pay_01kb")
        assert IdSpan("pay", "pay_01kb").is_short
        assert (read("Payments").cents, read("Payments").ids) == (None, None)
        assert read("x" * 129).text == "x" * 128


def test_opens_no_funding_of_the_other_direction(acme, dana_browser):
    """An id whose prefix says another kind finds nothing of the kind it was made for."""
    funding = make_funding(acme, make_source(acme))

    assert found(dana_browser, funding.pk.replace("ftx_", "pay_")) == {}
    assert FundingTransaction.objects.filter(pk=funding.pk).exists()
