"""The audit log as staff read it: words, names and amounts; ids are secondary."""

from __future__ import annotations

from funding.states import FundingStatus
from funding.transfer import FUNDING
from tenants import actors
from tenants.models import AuditEvent
from tenants.services import audit
from tests.builders import NOW, make_funding, make_source
from transfers import holds

LIST = "/admin/tenants/auditevent/"


def hold(tenant, sam):
    funding = make_funding(tenant, make_source(tenant), status=FundingStatus.RESERVED)
    holds.hold(FUNDING, funding.pk, reason="Odd hour", actor=actors.staff(sam.pk), now=NOW)
    return funding


class TestList:
    def test_says_what_and_who(self, desk, sam, acme):
        hold(acme, sam)

        page = desk.get(LIST).content.decode()

        assert "Held $250.00 from JPMorgan Chase ··6789 for review" in page
        assert "Staff sam@ballast.example" in page
        assert "Odd hour" in page

    def test_names_nobody_twice(self, desk, acme):
        page = desk.get(LIST).content.decode()

        assert "System System" not in page
        assert "Created this organization" in page

    def test_costs_the_same_for_many(self, desk, sam, acme, django_assert_max_num_queries):
        hold(acme, sam)
        for number in range(20):
            audit.record(
                tenant_id=acme.pk,
                actor=actors.staff(sam.pk),
                action="tenant.released",
                subject_id=f"ten_{number}",
                now=NOW,
            )

        with django_assert_max_num_queries(11):
            desk.get(LIST)


class TestEvent:
    def test_shows_the_sentence_and_every_id(self, desk, sam, acme):
        funding = hold(acme, sam)
        event = AuditEvent.objects.get(action="funding.held")

        page = desk.get(f"{LIST}{event.pk}/change/").content.decode()

        assert "Held $250.00 from JPMorgan Chase ··6789 for review" in page
        assert funding.pk in page
        assert sam.pk in page
