"""Pausing auto-funding, and what ends a pause."""

from __future__ import annotations

from datetime import timedelta

import pytest

from funding.models import AutoFundingConfig, Trigger
from funding.services import notices, pauses
from funding.states import FundingStatus
from tenants.actors import api_key
from tenants.models import AuditEvent, OutgoingEmail, Role
from tests.builders import (
    NOW,
    mails_of,
    make_auto_funding,
    make_funding,
    make_member,
    make_source,
    notices_of,
)

HOUR = timedelta(hours=1)
KEY = api_key("key_1")


def pause_of(tenant):
    return AutoFundingConfig.objects.values_list(
        "paused_reason", "paused_until", "failures_in_a_row"
    ).get(tenant=tenant)


def failed(tenant, source, code="R01", **fields):
    values = {
        "status": FundingStatus.FAILED,
        "trigger": Trigger.AUTO_FUNDING,
        "failure_code": code,
        "pending_at": NOW,
        "failed_at": NOW,
    }
    return make_funding(tenant, source, **(values | fields))


class TestPause:
    def test_stops_until_a_moment_and_tells_people_and_programs(self, acme):
        make_auto_funding(acme)
        make_member(acme, email="owner@acme.example", role=Role.OWNER)
        make_member(acme, email="member@acme.example", role=Role.MEMBER)
        make_member(acme, email="viewer@acme.example", role=Role.VIEWER)

        assert pauses.pause(
            tenant_id=acme.pk, reason="waiting_after_failure", until=NOW + HOUR, now=NOW
        )

        assert pause_of(acme) == ("waiting_after_failure", NOW + HOUR, 0)
        assert mails_of(acme, "auto_funding_paused") == [
            "member@acme.example",
            "owner@acme.example",
        ]
        assert notices_of(acme, "auto_funding.paused") == [
            {
                "reason": "waiting_after_failure",
                "pausedUntil": "2026-11-20T16:00:00.000000Z",
                "availableBalance": 0,
            }
        ]

    def test_says_what_the_bank_said(self, acme):
        make_auto_funding(acme)
        make_member(acme, email="owner@acme.example")

        pauses.pause(tenant_id=acme.pk, reason="bank_returned_R03", now=NOW)

        context = OutgoingEmail.objects.get(template="auto_funding_paused").context
        assert context["reason"].startswith("The bank answered R03, no account")
        assert context["advice"].endswith("Then switch auto-funding on again.")
        assert context["paused_until"] is None

    def test_asks_for_a_person_where_debits_are_not_authorized(self):
        _, advice = notices.explain_pause("bank_returned_R07")

        assert advice.endswith("Then resume it in the dashboard: an API key cannot.")

    def test_of_disabled_settings_changes_and_says_nothing(self, acme):
        make_auto_funding(acme, enabled=False)

        assert not pauses.pause(tenant_id=acme.pk, reason="too_many_firings", now=NOW)

        assert pause_of(acme) == ("", None, 0)
        assert notices_of(acme, "auto_funding.paused") == []

    def test_without_settings_does_nothing(self, acme):
        assert not pauses.pause(tenant_id=acme.pk, reason="too_many_firings", now=NOW)

    def test_never_shortens_a_wait_for_a_person(self, acme):
        make_auto_funding(acme)
        pauses.pause(tenant_id=acme.pk, reason="bank_returned_R03", now=NOW)

        assert not pauses.pause(
            tenant_id=acme.pk, reason="waiting_after_failure", until=NOW + HOUR, now=NOW
        )

        assert pause_of(acme) == ("bank_returned_R03", None, 0)
        assert len(notices_of(acme, "auto_funding.paused")) == 1


class TestPauseWhereUsed:
    def test_concerns_the_default_source_when_none_is_named(self, acme):
        make_auto_funding(acme)
        source = make_source(acme)

        assert pauses.pause_where_used(source=source, reason="funding_source_removed", now=NOW)

        assert pause_of(acme)[0] == "funding_source_removed"

    def test_leaves_settings_with_another_source_alone(self, acme):
        other, named = make_source(acme), make_source(acme, account_number="7777")
        make_auto_funding(acme, source=named)

        assert not pauses.pause_where_used(source=other, reason="funding_source_removed", now=NOW)

        assert pause_of(acme)[0] == ""


class TestResume:
    def test_ends_the_pause_forgets_failures_and_is_audited(self, acme):
        config = make_auto_funding(acme, failures_in_a_row=2)
        pauses.pause(tenant_id=acme.pk, reason="bank_returned_R03", now=NOW)

        assert pauses.resume(tenant_id=acme.pk, actor=KEY, now=NOW + HOUR)

        assert pause_of(acme) == ("", None, 0)
        config.refresh_from_db()
        assert config.resumed_at == NOW + HOUR
        event = AuditEvent.objects.get(action="auto_funding.resumed")
        assert (event.actor_id, event.details) == ("key_1", {"reason": "bank_returned_R03"})

    def test_of_a_running_one_writes_nothing(self, acme):
        make_auto_funding(acme)

        assert not pauses.resume(tenant_id=acme.pk, actor=KEY, now=NOW)

        assert not AuditEvent.objects.filter(action="auto_funding.resumed").exists()


class TestNoteFailure:
    def test_waits_1_6_24_hours_and_then_always_24(self, acme):
        make_auto_funding(acme)
        source = make_source(acme)

        waits = []
        for _ in range(4):
            pauses.note_failure(funding=failed(acme, source), now=NOW)
            waits.append(pause_of(acme)[1] - NOW)

        assert waits == [1 * HOUR, 6 * HOUR, 24 * HOUR, 24 * HOUR]
        assert pause_of(acme)[2] == 4

    @pytest.mark.parametrize("code", ["R02", "R03", "R10", "R29", "AC04"])
    def test_waits_for_a_person_after_a_final_code(self, acme, code):
        make_auto_funding(acme)

        pauses.note_failure(funding=failed(acme, make_source(acme), code), now=NOW)

        assert pause_of(acme) == (f"bank_returned_{code}", None, 0)

    def test_waits_for_a_person_when_the_bank_takes_back_a_top_up_for_good(self, acme):
        make_auto_funding(acme)
        topup = failed(acme, make_source(acme), "R10", trigger=Trigger.TOPUP)

        pauses.note_failure(funding=topup, now=NOW)

        assert pause_of(acme) == ("bank_returned_R10", None, 0)

    def test_waits_as_long_after_a_top_up_from_the_same_account(self, acme):
        make_auto_funding(acme)
        source = make_source(acme)

        for number, trigger in enumerate([Trigger.TOPUP, Trigger.AUTO_FUNDING, Trigger.TOPUP]):
            pauses.note_failure(funding=failed(acme, source, trigger=trigger), now=NOW)
            until = NOW + pauses.BACK_OFF[number]
            assert pause_of(acme) == ("waiting_after_failure", until, number + 1)

    def test_a_top_up_that_no_bank_ever_had_pauses_nothing(self, acme):
        make_auto_funding(acme)
        topup = failed(acme, make_source(acme), "canceled", trigger=Trigger.TOPUP, pending_at=None)

        pauses.note_failure(funding=topup, now=NOW)

        assert pause_of(acme) == ("", None, 0)

    def test_counts_on_from_what_an_older_release_counted(self, acme):
        make_auto_funding(acme, failures_in_a_row=1)

        pauses.note_failure(funding=failed(acme, make_source(acme)), now=NOW)

        assert pause_of(acme) == ("waiting_after_failure", NOW + 6 * HOUR, 2)

    def test_a_top_up_from_another_source_pauses_nothing(self, acme):
        make_auto_funding(acme, source=make_source(acme))
        other = make_source(acme, account_number="7777")

        for code in ("R10", "R01"):
            pauses.note_failure(funding=failed(acme, other, code, trigger=Trigger.TOPUP), now=NOW)

        assert pause_of(acme) == ("", None, 0)

    def test_a_code_nobody_knows_waits_for_a_person_once_the_bank_had_it(self, acme):
        make_auto_funding(acme)
        source = make_source(acme)

        pauses.note_failure(funding=failed(acme, source, "canceled", pending_at=None), now=NOW)
        assert pause_of(acme) == ("waiting_after_failure", NOW + HOUR, 1)

        pauses.note_failure(funding=failed(acme, source, "R99"), now=NOW)
        assert pause_of(acme) == ("bank_returned_R99", None, 1)

    def test_while_disabled_counts_nothing(self, acme):
        make_auto_funding(acme, enabled=False)

        pauses.note_failure(funding=failed(acme, make_source(acme)), now=NOW)

        assert pause_of(acme) == ("", None, 0)


class TestNoteSuccess:
    def test_starts_the_waits_over(self, acme):
        make_auto_funding(acme)
        source = make_source(acme)
        pauses.note_failure(funding=failed(acme, source), now=NOW)
        completed = make_funding(
            acme, source, status=FundingStatus.COMPLETED, trigger=Trigger.AUTO_FUNDING
        )

        pauses.note_success(funding=completed)

        assert pause_of(acme) == ("", None, 0)

    def test_does_not_end_a_wait_for_a_person(self, acme):
        make_auto_funding(acme)
        pauses.pause(tenant_id=acme.pk, reason="too_many_firings", now=NOW)
        completed = make_funding(
            acme,
            make_source(acme),
            status=FundingStatus.COMPLETED,
            trigger=Trigger.AUTO_FUNDING,
        )

        pauses.note_success(funding=completed)

        assert pause_of(acme) == ("too_many_firings", None, 0)

    def test_of_a_top_up_from_the_account_counts_as_well(self, acme):
        make_auto_funding(acme)
        source = make_source(acme)
        pauses.note_failure(funding=failed(acme, source), now=NOW)

        pauses.note_success(funding=make_funding(acme, source, status=FundingStatus.COMPLETED))

        assert pause_of(acme) == ("", None, 0)
        assert pauses.left_alone_until(source, now=NOW) is None

    def test_of_another_account_proves_nothing(self, acme):
        make_auto_funding(acme)
        source, other = make_source(acme), make_source(acme, account_number="7777")
        pauses.note_failure(funding=failed(acme, source), now=NOW)

        pauses.note_success(funding=make_funding(acme, other, status=FundingStatus.COMPLETED))

        assert pause_of(acme) == ("waiting_after_failure", NOW + HOUR, 1)
        assert pauses.left_alone_until(source, now=NOW) == NOW + HOUR


class TestIsPaused:
    @pytest.mark.parametrize(
        ("reason", "until", "expected"),
        [
            ("", None, False),
            ("too_many_firings", None, True),
            ("waiting_after_failure", NOW + HOUR, True),
            ("waiting_after_failure", NOW, False),
        ],
    )
    def test_ends_by_itself_when_the_time_is_up(self, reason, until, expected):
        config = AutoFundingConfig(paused_reason=reason, paused_until=until)

        assert pauses.is_paused(config, NOW) is expected
