"""The page of authorizations: what was agreed to, by whom, what it served; revoking; the CSV."""

from __future__ import annotations

import csv
import io
from datetime import timedelta

import pytest

from funding.models import DebitAuthorization
from funding.services import deposits
from tenants.actors import user
from tenants.models import Mode, Role
from tests.builders import NOW, browser_of, make_member, make_source, make_tenant
from tests.funding.agreeing import agree, agreement, make_individual, revoke
from tests.funding.builders import top_up
from tests.funding.live_network import LiveNetwork
from tests.funding.test_debit_authorizations import ask

LIST = "/dashboard/bank-accounts/authorizations"
TEXT = "=HYPERLINK(1) <b>I agree</b>\nto be debited."


@pytest.fixture
def source(acme):
    return make_individual(acme)


@pytest.fixture
def kept(source, dana):
    return agree(source, actor=user(dana.pk), text=TEXT, amount_max=50_000)


class TestTheList:
    def test_says_what_for_from_where_by_whom_and_whether_it_holds(self, kept, dana_browser):
        page = dana_browser.get(LIST).content.decode()

        assert "All debits of the account" in page
        assert "At most" not in page
        assert "at most $500.00 each time" in page
        assert "dana@acme.example" in page
        assert "In force" in page

    def test_hides_those_of_another_tenant(self, rival, dana_browser):
        other = agree(make_individual(rival))

        assert other.pk not in dana_browser.get(LIST).content.decode()
        assert dana_browser.get(f"{LIST}/{other.pk}").status_code == 404
        assert other.pk not in b"".join(dana_browser.get(f"{LIST}.csv")).decode()

    def test_tells_a_used_single_one(self, acme, source, dana_browser):
        ask(acme, source, agreement("single"))

        assert "Used" in dana_browser.get(LIST).content.decode()

    def test_is_empty_at_first(self, acme, dana_browser):
        assert "No authorizations yet" in dana_browser.get(LIST).content.decode()


class TestOne:
    def test_shows_the_text_as_text(self, kept, dana_browser):
        page = dana_browser.get(f"{LIST}/{kept.pk}").content.decode()

        assert "&lt;b&gt;I agree&lt;/b&gt;" in page
        assert "203.0.113.7" in page

    @pytest.mark.parametrize("pk", ["dau_1", "nothing", "dau_" + "0" * 26, "%00"])
    def test_is_404_where_there_is_none(self, kept, dana_browser, pk):
        assert dana_browser.get(f"{LIST}/{pk}").status_code == 404

    def test_is_revoked_by_a_button(self, kept, acme, dana, dana_browser):
        address = f"{LIST}/{kept.pk}/revoke"

        page = dana_browser.post(address, {"acting_for": acme.pk}, follow=True)

        assert b"The authorization is revoked." in page.content
        assert b"Revoke</button>" not in page.content
        row = DebitAuthorization.objects.get()
        assert (row.ended_because, row.ended_by_id) == ("revoked", dana.pk)

    def test_is_not_revoked_by_who_may_only_look(self, kept, acme):
        viewer = browser_of(make_member(acme, email="vic@acme.example", role=Role.VIEWER))

        assert viewer.get(f"{LIST}/{kept.pk}").status_code == 200
        assert b"Revoke</button>" not in viewer.get(f"{LIST}/{kept.pk}").content
        answer = viewer.post(f"{LIST}/{kept.pk}/revoke", {"acting_for": acme.pk})
        assert answer.status_code == 403
        assert DebitAuthorization.objects.get().is_in_force


class TestMicroDeposits:
    """Of an individual's account of a live tenant: one debit takes them back."""

    @pytest.fixture
    def globex(self, db):
        return make_tenant(name="Globex", mode=Mode.LIVE)

    @pytest.fixture
    def live(self, globex, connect):
        connect(LiveNetwork(), modes=("live",))
        return make_source(globex, holder_type="individual")

    def debits(self, authorization, globex):
        owner = browser_of(make_member(globex, email="olga@globex.example"))
        return owner.get(f"{LIST}/{authorization.pk}").content.decode()

    def test_are_taken_back_by_it(self, globex, live):
        kept = agree(live)
        assert "No debits have used this authorization yet" in self.debits(kept, globex)

        deposits.send_due(now=NOW)

        page = self.debits(kept, globex)
        assert "The debit that took the micro-deposits back" in page
        assert "$0." not in page  # the amounts are the proof

    @pytest.mark.parametrize("kind", ["single", "ended", "later"])
    def test_are_not_taken_back_by_another(self, globex, live, kind):
        if kind != "later":
            other = agree(live, "single" if kind == "single" else "recurring")
        if kind == "ended":
            revoke(other)
        later = NOW + timedelta(minutes=1)
        agree(live, now=NOW)
        deposits.send_due(now=NOW)
        if kind == "later":
            other = agree(live, accepted_at=later, now=later)

        assert "No debits have used this authorization yet" in self.debits(other, globex)


class TestTheFile:
    def rows(self, browser):
        text = b"".join(browser.get(f"{LIST}.csv")).decode()
        return list(csv.DictReader(io.StringIO(text)))

    def test_proves_what_a_bank_asks_for(self, kept, dana, dana_browser):
        (row,) = self.rows(dana_browser)

        assert row["text"] == f"'{TEXT}"  # no formula, otherwise as it was shown
        assert (row["accountHolder"], row["accountLast4"]) == ("Acme Inc", "6789")
        assert (row["givenBy"], row["givenById"]) == ("dana@acme.example", dana.pk)
        assert (row["ipAddress"], row["amountMax"]) == ("203.0.113.7", "50000")
        assert row["acceptedAt"] == "2026-11-20T15:00:00.000000Z"
        assert (row["endedAt"], row["endedBecause"]) == ("", "")
        assert "000123456789" not in str(row)

    def test_of_one_that_ended(self, kept, dana_browser):
        revoke(kept)

        (row,) = self.rows(dana_browser)

        assert (row["endedAt"], row["endedBecause"]) == ("2026-11-20T15:00:00.000000Z", "Revoked")


def test_a_funding_names_the_one_it_was_made_on(acme, source, dana_browser):
    funding = ask(acme, source, agreement("single"), now=NOW)
    plain = top_up(acme, source=source)

    kept = DebitAuthorization.objects.get()
    page = dana_browser.get(f"/dashboard/funding/{funding.pk}").content.decode()
    assert f"{LIST}/{kept.pk}" in page
    other = dana_browser.get(f"/dashboard/funding/{plain.pk}").content.decode()
    assert "Authorization</dt>" not in other
    (row,) = TestTheFile().rows(dana_browser)
    assert row["debits"] == funding.pk
