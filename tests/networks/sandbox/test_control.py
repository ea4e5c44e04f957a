from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from networks.base import EventKind, Method, NetworkUnavailable
from networks.sandbox import control
from networks.sandbox.bank import SandboxBank
from networks.sandbox.models import FORMERLY_FINAL, SandboxEvent
from tests.networks import asking
from tests.networks.sandbox.builders import instruction

NOW = datetime(2026, 11, 20, 17, 0, tzinfo=UTC)
SOON = NOW + timedelta(seconds=30)
LATER = NOW + timedelta(days=365)

bank = SandboxBank()
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _real_banking_days(settings):
    settings.SANDBOX_PACE = "banking_days"


def submit(number: str = "000123456789", *, method: Method = Method.ACH_DEBIT) -> None:
    asking.submit(bank, instruction(number, method=method), now=NOW)


def story(now: datetime) -> str:
    return " ".join(f"{event.kind}{event.code}" for event in bank.poll(now=now, limit=100))


class TestAdvance:
    def test_takes_one_step_at_a_time(self):
        submit("20010")

        stories = []
        for _ in range(3):
            (event,) = control.advance("ftx_1", now=SOON)
            assert event.occurred_at == SOON
            stories.append(story(SOON))

        assert stories == ["accepted", "accepted final", "accepted final returnedR10"]
        assert story(LATER) == story(SOON)

    def test_moves_one_that_stays_pending_to_its_natural_end(self):
        submit("30001")

        control.advance("ftx_1", now=SOON)
        control.advance("ftx_1", now=SOON)

        assert story(SOON) == "accepted final"

    @pytest.mark.parametrize(
        ("number", "steps"), [("000123456789", 2), ("10001", 2), ("20010", 3), ("30001", 2)]
    )
    def test_refuses_when_nothing_is_left(self, number, steps):
        submit(number)
        for _ in range(steps):
            control.advance("ftx_1", now=SOON)

        with pytest.raises(control.ControlRefused, match="cannot be settled"):
            control.advance("ftx_1", now=SOON)


class TestComplete:
    @pytest.mark.parametrize("number", ["000123456789", "10001", "20010", "30001"])
    def test_settles_now_and_drops_the_rest_of_the_script(self, number):
        submit(number)

        events = control.complete("ftx_1", now=SOON)

        assert [event.kind for event in events] == [EventKind.ACCEPTED, EventKind.FINAL]
        assert story(SOON) == story(LATER) == "accepted final"

    def test_does_not_repeat_what_happened(self):
        submit()
        control.advance("ftx_1", now=SOON)

        (event,) = control.complete("ftx_1", now=SOON)

        assert event.kind is EventKind.FINAL
        assert story(LATER) == "accepted final"

    @pytest.mark.parametrize("end", [control.complete, control.fail, control.return_entry])
    def test_refuses_what_has_ended(self, end):
        submit()
        end("ftx_1", now=SOON)
        before = story(LATER)

        with pytest.raises(control.ControlRefused, match="cannot be settled"):
            control.complete("ftx_1", now=SOON)

        assert story(LATER) == before


class TestFail:
    @pytest.mark.parametrize(
        ("method", "expected"),
        [
            (Method.ACH_DEBIT, "rejectedR18"),
            (Method.RTP_REQUEST, "rejectedCUST"),
            (Method.RTP_CREDIT, "rejectedAC04"),
        ],
    )
    def test_rejects_with_a_code_of_the_network(self, method, expected):
        submit(method=method)

        control.fail("ftx_1", now=SOON)

        assert story(SOON) == story(LATER) == expected

    def test_takes_a_code(self):
        submit("30001", method=Method.RTP_REQUEST)

        (event,) = control.fail("ftx_1", code="EXPIRED", now=SOON)

        assert (event.code, event.reason) == ("EXPIRED", "No answer in time")

    def test_rejects_what_was_accepted(self):
        submit()
        control.advance("ftx_1", now=SOON)

        control.fail("ftx_1", now=SOON)

        assert story(LATER) == "accepted rejectedR18"

    @pytest.mark.parametrize("end", [control.complete, control.fail, control.return_entry])
    def test_refuses_what_has_ended(self, end):
        submit()
        end("ftx_1", now=SOON)
        before = story(LATER)

        with pytest.raises(control.ControlRefused, match="cannot be rejected"):
            control.fail("ftx_1", now=SOON)

        assert story(LATER) == before


class TestReturnEntry:
    def test_returns_in_transit_by_way_of_acceptance(self):
        submit()

        control.return_entry("ftx_1", now=SOON)

        assert story(SOON) == story(LATER) == "accepted returnedR01"

    def test_returns_late_with_a_code(self):
        submit()
        control.complete("ftx_1", now=SOON)

        (event,) = control.return_entry("ftx_1", code="R10", now=SOON)

        assert (event.amount, event.reason) == (25_000, "Not authorized")
        assert story(SOON) == "accepted final returnedR10"

    @pytest.mark.parametrize("code", ["R48", "AC04", "", "r01"])
    def test_refuses_codes_that_do_not_exist(self, code):
        submit()

        with pytest.raises(control.ControlRefused, match="not an ACH return code"):
            control.return_entry("ftx_1", code=code, now=SOON)

        assert story(LATER) == "accepted final"

    def test_refuses_rtp_which_is_final(self):
        submit(method=Method.RTP_REQUEST)
        control.complete("ftx_1", now=SOON)

        with pytest.raises(control.ControlRefused, match="RTP is final"):
            control.return_entry("ftx_1", now=SOON)

    @pytest.mark.parametrize("end", [control.fail, control.return_entry])
    def test_refuses_what_never_settled_and_what_is_back_already(self, end):
        submit()
        end("ftx_1", now=SOON)
        before = story(LATER)

        with pytest.raises(control.ControlRefused, match="cannot be returned"):
            control.return_entry("ftx_1", now=SOON)

        assert story(LATER) == before


@pytest.mark.parametrize(
    "act", [control.advance, control.complete, control.fail, control.return_entry]
)
class TestUnknownInstruction:
    def test_is_refused(self, act):
        with pytest.raises(control.UnknownInstruction):
            act("ftx_1", now=NOW)

    def test_includes_one_that_found_the_network_down(self, act):
        with pytest.raises(NetworkUnavailable):
            submit("30002")

        with pytest.raises(control.UnknownInstruction):
            act("ftx_1", now=NOW)


def test_news_acknowledged_under_a_clock_ahead_of_ours_is_never_taken_back():
    submit()
    accepted, _settled = bank.poll(now=LATER, limit=10)
    bank.acknowledge([accepted.id])

    events = control.fail("ftx_1", now=SOON)

    assert [event.kind for event in events] == [EventKind.REJECTED]
    assert bank.poll(now=LATER, limit=10) == events
    assert SandboxEvent.objects.filter(acknowledged=True).count() == 1


def test_what_the_last_release_called_settled_may_come_back():
    submit()
    SandboxEvent.objects.filter(kind=EventKind.FINAL).update(kind=FORMERLY_FINAL)

    events = control.return_entry("ftx_1", now=LATER)

    assert [event.kind for event in events] == [EventKind.RETURNED]
