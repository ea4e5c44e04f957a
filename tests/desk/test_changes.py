"""Changes of accounts at the desk: deciding about one, and what became of it."""

from __future__ import annotations

import pytest
import time_machine

from desk.exceptions import lines
from networks.ach.models import AchEvent, AchReply, Correction, InRecord
from networks.ach.network import AchNetwork
from networks.base import CorrectionOutcome
from tests.desk.exceptions import address, decide, shown
from tests.networks.ach.inbound.builders import (
    NOW,
    answer_file,
    change_batch,
    changed,
    make_batch,
    make_entry,
    make_rail,
    take,
)
from transfers.inbox.models import InboundEvent


@pytest.fixture(autouse=True)
def _at_the_time():
    with time_machine.travel(NOW, tick=True):
        yield


@pytest.fixture
def change(db):
    """A change that a person decides about."""
    entry = make_entry(make_batch(make_rail(apply_changes=False)))
    take(answer_file(change_batch(*changed(entry))))
    return InRecord.objects.get()


class TestChange:
    def test_shows_what_it_corrects_masked(self, desk, change):
        content = shown(desk, address(change))

        assert "··8-99" in content
        assert "··9001" in content
        assert "74456709001" not in content

    def test_of_impossible_data_can_only_be_refused(self, desk, db):
        entry = make_entry(make_batch(make_rail()))
        file = take(answer_file(change_batch(*changed(entry, "C01", ""))))
        record = InRecord.objects.get(file=file)

        for content in (shown(desk), shown(desk, address(record))):
            assert "The corrected data is missing" in content
            assert "Refuse it with C61 to C69, or resolve it" in content

    def test_that_can_be_applied_says_so(self, desk, change):
        for content in (shown(desk), shown(desk, address(change))):
            assert "Apply it, or refuse it with C61 to C69" in content

    def test_is_applied(self, desk, change):
        decide(desk, change, "apply")

        assert (change.status, Correction.objects.get().status) == ("applied", "applied")

    def test_is_refused_with_a_code(self, desk, change):
        decide(desk, change, "refuse", code="C68")

        assert (AchReply.objects.get().code, Correction.objects.get().status) == ("C68", "refused")

    @pytest.mark.parametrize("code", ["", "C01", "R61", "C70"])
    def test_needs_a_code_that_fits(self, desk, change, code):
        decide(desk, change, "refuse", code=code)

        assert Correction.objects.get().status == "open"
        assert not AchReply.objects.exists()


class TestWhatBecameOfAChange:
    """It was told to whoever keeps the account, who says what came of it."""

    @pytest.fixture
    def told(self, db):
        entry = make_entry(make_batch(make_rail()))
        take(answer_file(change_batch(*changed(entry))))
        return AchEvent.objects.get(kind="corrected")

    def hear(self, told, outcome, note=""):
        AchNetwork(told.rail_id).corrected(
            told.event_id, outcome=CorrectionOutcome(outcome), note=note, now=NOW
        )

    def test_is_unknown_at_first(self, desk, told):
        assert "The account has not been looked at yet." in shown(desk, address(told.record))

    def test_is_told_at_its_record(self, desk, told):
        self.hear(told, "applied")

        content = shown(desk, address(told.record))
        assert "Account corrected" in content
        assert "Settle the message" not in content
        assert "Nothing needs a decision" in shown(desk)

    def test_that_a_person_is_needed_is_listed_until_it_is_settled(self, desk, told):
        message = InboundEvent.objects.create(
            network=told.rail_id,
            event_id=told.event_id,
            instruction_id=told.instruction_id,
            kind="corrected",
            amount=told.amount,
            currency="USD",
            occurred_at=NOW,
            received_at=NOW,
            outcome="review",
        )
        self.hear(told, "review", "the corrected account is the tenant's fs_1 as well")

        content = shown(desk)
        assert "Account not corrected" in content
        assert "The corrected account is the tenant's fs_1 as well" in content
        assert lines.counted(now=NOW) == (1, 0)
        page = shown(desk, address(told.record))
        assert f"/admin/network_inbox/inboundevent/{message.pk}/change/" in page

        self.hear(told, "resolved", "the holder says that the number is wrong")
        assert "Nothing needs a decision" in shown(desk)
        assert "Settled by a person" in shown(desk, address(told.record))

    def test_of_nothing_that_we_told_changes_nothing(self, told):
        for event_id in ("ace_999999", "sbe_1", ""):
            AchNetwork(told.rail_id).corrected(
                event_id, outcome=CorrectionOutcome.APPLIED, note="", now=NOW
            )
        AchNetwork("another").corrected(
            told.event_id, outcome=CorrectionOutcome.APPLIED, note="", now=NOW
        )
        assert Correction.objects.get().outcome == ""
