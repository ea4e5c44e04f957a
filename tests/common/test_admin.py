"""What every list of the staff desk keeps to."""

from __future__ import annotations

import pytest

from common import admin as lists
from funding.models import FundingTransaction
from funding.states import FundingStatus
from tenants.models import AuditEvent
from tests.builders import NOW, enter_as, make_funding, make_source, make_staff

LIST = "/admin/funding/fundingtransaction/?status__exact=reserved"
TOO_MANY = b"Nothing was done: more than 200 rows are selected."


@pytest.fixture
def desk(client, db):
    enter_as(client, make_staff("sam@ballast.example"))
    return client


@pytest.fixture
def three(acme, monkeypatch):
    """Of which two may be chosen at once."""
    monkeypatch.setattr(lists, "CHOSEN_MAX", 2)
    source = make_source(acme)
    return [make_funding(acme, source, status=FundingStatus.RESERVED) for _ in range(3)]


def chosen(desk, rows, **more):
    form = {"action": "hold_chosen", "_selected_action": [row.pk for row in rows], **more}
    return desk.post(LIST, form)


def test_a_row_shows_what_people_ask_for_first(desk, three):
    page = desk.get(f"/admin/desk/funding/{three[0].pk}/").content.decode()
    _above, _summary, columns = page.partition("All columns</summary>")

    assert columns.index("Expected availability date") < columns.index("Lease version")
    assert columns.index("Expected availability date") < columns.index("hold reason")


def test_history_is_the_audit_log_about_the_row(desk, three):
    chosen(desk, three[:1], reason="A look at the day")

    answer = desk.get(
        f"/admin/funding/fundingtransaction/{three[0].pk}/history/", follow=True
    ).content.decode()

    assert "Held $250.00 from JPMorgan Chase" in answer
    assert "Created this organization" not in answer


def test_moments_look_as_in_the_dashboard_and_name_their_zone(desk, three):
    assert b"Nov 20, 2026, 10:00 AM EST" in desk.get(LIST).content


def test_a_filter_asks_whether_as_people_do(desk, three):
    chosen(desk, three[:1], reason="A look at the day")

    page = desk.get(LIST)
    (held,) = [s for s in page.context["cl"].filter_specs if s.title == "on hold"]
    answers = {c["display"]: c["query_string"] for c in held.choices(page.context["cl"])}

    assert list(answers) == ["All", "Yes", "No"]
    shown = desk.get(LIST.partition("?")[0] + answers["Yes"]).context["cl"].result_list
    assert [row.pk for row in shown] == [three[0].pk]


class TestAnActionOnManyRows:
    def test_is_refused_for_all_that_match(self, desk, three):
        answer = chosen(desk, three[:1], select_across="1", reason="A look at the day")

        assert (answer.status_code, answer["Location"]) == (302, LIST)
        assert TOO_MANY in desk.get(LIST).content
        assert not FundingTransaction.objects.filter(held_at__isnull=False).exists()

    def test_is_refused_for_so_many_by_hand(self, desk, three):
        assert chosen(desk, three, reason="A look at the day").status_code == 302

        assert TOO_MANY in desk.get(LIST).content
        assert not AuditEvent.objects.filter(action="funding.held").exists()

    def test_goes_on_for_as_many_as_allowed(self, desk, three):
        FundingTransaction.objects.filter(pk=three[0].pk).update(
            status=FundingStatus.FAILED, failed_at=NOW
        )

        chosen(desk, three[1:], select_across="1", reason="A look at the day")

        assert FundingTransaction.objects.filter(held_at__isnull=False).count() == 2
