"""A person settles a message: with a note, or by letting it be tried again."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from funding.transfer import FUNDING
from networks.base import EventKind
from tenants import actors
from tenants.models import AuditEvent, User
from tests.builders import NOW, enter_as
from tests.funding.builders import top_up
from tests.networks.scripted import ScriptedNetwork, message
from transfers import submission
from transfers.inbox import arrivals, judging, messages, reviews
from transfers.inbox.models import InboundEvent, InboundOutcome

pytestmark = pytest.mark.usefixtures("set_size")


STAFF = actors.staff("usr_1")
LIST = "admin:network_inbox_inboundevent_changelist"


@pytest.fixture
def funding(acme):
    return top_up(acme)


@pytest.fixture
def in_review(funding):
    """A settlement that waited an hour for a funding nobody submitted."""
    event = message(funding, EventKind.ACCEPTED)
    arrivals.collect(network=ScriptedNetwork(event), id_prefix="ftx_", now=NOW)
    messages.apply_new(FUNDING, now=NOW + judging.WAITS_AT_MOST)
    return InboundEvent.objects.get(outcome=InboundOutcome.REVIEW)


def test_resolving_keeps_the_message_and_says_who_and_why(in_review):
    reviews.resolve(event_id=in_review.pk, note=" Duplicate file ", actor=STAFF, now=NOW)

    in_review.refresh_from_db()
    assert (in_review.outcome, in_review.resolution) == (InboundOutcome.RESOLVED, "Duplicate file")
    assert (in_review.resolved_by, in_review.resolved_at) == ("usr_1", NOW)
    record = AuditEvent.objects.get(action="network_event.resolved")
    assert record.details == {"network": "sandbox", "eventId": "nev-1"}
    assert record.staff_note == "Duplicate file"
    assert messages.apply_new(FUNDING, now=NOW) == 0


def test_a_message_tried_again_is_applied_by_the_next_sweep(funding, in_review):
    submission.submit_due(FUNDING, now=NOW)

    reviews.retry(event_id=in_review.pk, note="Sent now", actor=STAFF, now=NOW)

    assert messages.apply_new(FUNDING, now=NOW) == 1
    funding.refresh_from_db()
    assert funding.status == "in_transit"
    assert AuditEvent.objects.filter(action="network_event.retried").count() == 1


def test_one_that_still_cannot_be_applied_comes_back_to_a_person(in_review):
    late = NOW + judging.WAITS_AT_MOST
    reviews.retry(event_id=in_review.pk, note="Look", actor=STAFF, now=late)

    assert messages.apply_new(FUNDING, now=late) == 0

    in_review.refresh_from_db()
    assert (in_review.outcome, in_review.note) == (InboundOutcome.REVIEW, 'funding is "reserved"')


@pytest.mark.parametrize("settle", ["resolve", "retry"])
def test_what_was_settled_already_stays_so(in_review, settle):
    reviews.resolve(event_id=in_review.pk, note="Seen", actor=STAFF, now=NOW)

    with pytest.raises(reviews.NotOpen):
        getattr(reviews, settle)(event_id=in_review.pk, note="Again", actor=STAFF, now=NOW)

    in_review.refresh_from_db()
    assert in_review.resolution == "Seen"


def test_its_page_speaks_in_words(in_review, admin_client):
    address = f"/admin/network_inbox/inboundevent/{in_review.pk}/change/"

    page = admin_client.get(address).content.decode()

    for words in (
        "Its id at the network",
        "Funding or payment",
        "What it says",
        "Tries that failed",
    ):
        assert words in page, words
    assert "Accepted: on its way, no money has moved" in page
    for column in ("Event id", "Instruction id", "Next attempt at"):
        assert column not in page, column


def test_a_note_is_needed(in_review):
    with pytest.raises(reviews.NoteNeeded):
        reviews.resolve(event_id=in_review.pk, note="  ", actor=STAFF, now=NOW)

    in_review.refresh_from_db()
    assert in_review.outcome == InboundOutcome.REVIEW


class TestDesk:
    def page(self, action, event):
        return reverse(f"admin:network_inbox_inboundevent_{action}", args=[event.pk])

    def test_shows_what_came_and_what_may_be_done(self, in_review, admin_client):
        content = admin_client.get(self.page("change", in_review)).content.decode()

        assert "$250.00 USD" in content
        assert self.page("resolve", in_review) in content
        assert self.page("retry", in_review) in content
        shown = admin_client.get(reverse(LIST), {"attention": "review"})
        assert list(shown.context["cl"].queryset) == [in_review]
        failing = admin_client.get(reverse(LIST), {"attention": "failing"})
        assert list(failing.context["cl"].queryset) == []

    def test_settles_one_and_many(self, in_review, admin_client, admin_user):
        admin_client.post(self.page("retry", in_review), {"reason": "Once more"})
        in_review.refresh_from_db()
        assert in_review.outcome == InboundOutcome.NEW

        chosen = {"action": "resolve_chosen", "_selected_action": [in_review.pk]}
        assert admin_client.post(reverse(LIST), chosen).status_code == 200
        admin_client.post(reverse(LIST), {**chosen, "reason": "Duplicate"})

        in_review.refresh_from_db()
        assert (in_review.outcome, in_review.resolved_by) == ("resolved", admin_user.pk)
        assert (
            self.page("resolve", in_review)
            not in admin_client.get(self.page("change", in_review)).content.decode()
        )

    def test_lets_nobody_settle_without_the_permission(self, in_review, client):
        looker = User.objects.create_user(email="new@ballast.example", is_staff=True)
        looker.user_permissions.add(Permission.objects.get(codename="view_inboundevent"))
        enter_as(client, looker)

        assert client.post(self.page("resolve", in_review), {"reason": "x"}).status_code == 403

        in_review.refresh_from_db()
        assert in_review.outcome == InboundOutcome.REVIEW
