from __future__ import annotations

import re
from datetime import timedelta

import pytest

from common.clock import utc_now
from funding.models import Confirmation, FundingMethod, Trigger
from funding.services import topups
from funding.states import FundingStatus
from tenants.actors import api_key
from tests.builders import NOW, make_auto_funding, make_funding, make_source
from tests.funding.builders import run_due, top_up


@pytest.fixture
def source(acme):
    return make_source(acme)


class TestFunding:
    def test_an_empty_list_says_what_will_be_here(self, dana_browser):
        assert b"No funding yet" in dana_browser.get("/dashboard/funding").content

    @pytest.mark.parametrize(
        ("status", "label"),
        [
            (FundingStatus.RESERVED, "Reserved"),
            (FundingStatus.AWAITING_CONFIRMATION, "Needs approval"),
            (FundingStatus.PENDING, "Submitted"),
            (FundingStatus.IN_TRANSIT, "In transit"),
            (FundingStatus.COMPLETED, "Completed"),
            (FundingStatus.FAILED, "Failed"),
        ],
    )
    def test_names_every_status(self, acme, source, dana_browser, status, label):
        make_funding(acme, source, status=status, amount=12_345)

        content = dana_browser.get("/dashboard/funding").content.decode()

        assert f">{label}</span>" in content
        assert "$123.45" in content
        assert "··6789" in content

    def test_says_when_money_is_expected_only_while_it_is_on_its_way(
        self, acme, source, dana_browser
    ):
        make_funding(acme, source, status=FundingStatus.IN_TRANSIT)
        assert b"expected Nov 20" in dana_browser.get("/dashboard/funding").content

        other = make_source(acme, account_number="99911")
        make_funding(acme, other, status=FundingStatus.COMPLETED)
        assert dana_browser.get("/dashboard/funding").content.count(b"expected") == 1

    def test_says_what_a_top_up_is_for_where_somebody_wrote_it(self, acme, source, dana_browser):
        row = make_funding(acme, source, description="November <float>")
        plain = make_funding(acme, source, trigger=Trigger.AUTO_FUNDING, description="Auto-funding")

        listed = dana_browser.get("/dashboard/funding").content.decode()
        page = dana_browser.get(f"/dashboard/funding/{row.pk}").content.decode()
        other = dana_browser.get(f"/dashboard/funding/{plain.pk}").content.decode()

        assert listed.count('<p class="table__sub">November &lt;float&gt;</p>') == 1
        assert '<p class="table__sub">Auto-funding</p>' not in listed
        assert re.search(r"<dt>Description</dt>\s*<dd>November &lt;float&gt;</dd>", page)
        assert "<dt>Description</dt>" not in other

    def test_promises_no_day_while_a_person_keeps_it(self, acme, source, dana_browser):
        waiting = make_funding(acme, source, status=FundingStatus.AWAITING_CONFIRMATION)
        held = make_funding(acme, source, held_at=NOW, hold_reason="look")

        for path in ("", f"/{waiting.pk}", f"/{held.pk}"):
            content = dana_browser.get(f"/dashboard/funding{path}").content.decode()
            assert "expected nov" not in content.lower()
            assert "<dt>Expected</dt>" not in content

    def test_explains_a_return_in_words(self, acme, source, dana_browser):
        make_funding(
            acme,
            source,
            status=FundingStatus.FAILED,
            trigger=Trigger.AUTO_FUNDING,
            returned=True,
            returned_at=NOW,
            return_code="R01",
            return_reason="Insufficient funds",
        )

        content = dana_browser.get("/dashboard/funding").content.decode()

        assert "Returned" in content
        assert "R01: Insufficient funds" in content
        assert "Auto-funding, ACH debit" in content

    def test_names_a_return_in_the_timeline(self, acme, dana_browser):
        bank = make_source(acme, account_number="20001")
        funding = top_up(acme, source=bank)
        run_due(rounds=8)

        content = dana_browser.get(f"/dashboard/funding/{funding.pk}").content.decode()

        assert "Completed: the money is available" in content
        assert "Returned by the bank" in content
        assert ">Failed" not in content

    def test_calls_what_somebody_canceled_canceled(self, acme, dana_browser):
        funding = top_up(acme)
        topups.cancel(tenant_id=acme.pk, funding_id=funding.pk, actor=api_key("key_1"), now=NOW)

        content = dana_browser.get("/dashboard/funding?show=failed").content.decode()

        assert '<span class="badge badge--neutral">Canceled</span>' in content
        assert "Canceled before it was handed to the bank." in content
        timeline = dana_browser.get(f"/dashboard/funding/{funding.pk}").content.decode()
        assert "Canceled: nothing was sent" in timeline

    def test_pages_show_every_row_once_in_order(self, acme, source, dana_browser):
        for number in range(1, 31):
            made = NOW + timedelta(seconds=number // 3)
            make_funding(acme, source, amount=number * 100, created_at=made)

        first = dana_browser.get("/dashboard/funding")
        older = first.context["page"].older
        second = dana_browser.get(f"/dashboard/funding?before={older}")

        lines = [*first.context["lines"], *second.context["lines"]]
        assert sorted(line.amount for line in lines) == [n * 100 for n in range(1, 31)]
        assert [line.at for line in lines] == sorted((line.at for line in lines), reverse=True)
        assert second.context["page"].older == ""

    @pytest.mark.parametrize(
        ("shown", "amounts"),
        [
            ("moving", {"$1.00", "$2.00", "$3.00", "$4.00"}),
            ("completed", {"$5.00"}),
            ("failed", {"$6.00"}),
            ("nonsense", {"$1.00", "$2.00", "$3.00", "$4.00", "$5.00", "$6.00"}),
        ],
    )
    def test_can_be_narrowed_to_where_it_stands(self, acme, source, dana_browser, shown, amounts):
        for dollars, status in enumerate(FundingStatus, start=1):
            make_funding(acme, source, status=status, amount=dollars * 100)

        content = dana_browser.get(f"/dashboard/funding?show={shown}").content.decode()

        assert set(re.findall(r"\$[1-6]\.00", content)) == amounts

    def test_of_which_none_is_left_says_so(self, acme, source, dana_browser):
        make_funding(acme, source)

        assert b"Nothing to show" in dana_browser.get("/dashboard/funding?show=failed").content

    def test_that_waits_for_an_approval_leads_to_it(self, acme, source, dana_browser):
        make_auto_funding(acme, enabled=False, confirm_topups=True, confirmation_threshold=1)
        funding = top_up(acme, source=source, now=utc_now())

        content = dana_browser.get(f"/dashboard/funding/{funding.pk}").content.decode()

        approval = Confirmation.objects.get(funding=funding)
        assert f'href="/dashboard/approvals/{approval.pk}">See who was asked' in content

    def test_hides_other_tenants(self, rival, dana_browser):
        foreign = make_funding(rival, make_source(rival))

        assert b"No funding yet" in dana_browser.get("/dashboard/funding").content
        assert dana_browser.get(f"/dashboard/funding?before={foreign.pk}").status_code == 404


class TestRequests:
    """For payment: the page says who has to approve, and where."""

    @pytest.fixture
    def waiting(self, acme):
        return top_up(
            acme, source=make_source(acme, account_number="30001"), method=FundingMethod.RTP
        )

    def test_say_which_bank_has_to_approve_and_until_when(self, waiting, dana_browser):
        run_due()

        content = dana_browser.get(f"/dashboard/funding/{waiting.pk}").content.decode()

        assert "Approve this request at JPMorgan Chase" in content
        assert "opens the requests for payment, and approves ours" in content
        assert "Approve it before <" in content
        assert "Nov 21, 2026" in content
        assert "<dd>RTP</dd>" in content

    def test_say_nothing_before_they_are_sent(self, waiting, dana_browser):
        content = dana_browser.get(f"/dashboard/funding/{waiting.pk}").content.decode()

        assert "Approve this request" not in content

    def test_say_nothing_once_they_are_answered(self, acme, dana_browser):
        paid = top_up(acme, source=make_source(acme), method=FundingMethod.RTP)
        run_due()

        content = dana_browser.get(f"/dashboard/funding/{paid.pk}").content.decode()

        assert "Approve this request" not in content
