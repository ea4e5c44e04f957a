"""Using, choosing and removing bank accounts."""

from __future__ import annotations

import base64

import pytest

from common import rotation
from common.errors import NotFound
from funding.errors import (
    FundingMethodNotSupported,
    FundingSourceInUse,
    FundingSourceNotVerified,
    FundingSourceUnusable,
)
from funding.models import FundingSource
from funding.services import limits, sources, topup_terms
from funding.states import FundingStatus, SourceStatus
from tenants.actors import SYSTEM, api_key
from tenants.models import AuditEvent
from tests.builders import (
    NOW,
    make_auto_funding,
    make_funding,
    make_linked_source,
    make_source,
    notices_of,
)

KEY = api_key("key_1")


def status_of(source: FundingSource) -> str:
    return FundingSource.objects.values_list("status", flat=True).get(pk=source.pk)


def notices(tenant):
    return notices_of(tenant, "funding_source.updated")


def remove(source):
    return sources.remove(tenant_id=source.tenant_id, source_id=source.pk, actor=KEY, now=NOW)


def make_default(source):
    return sources.make_default(tenant_id=source.tenant_id, source_id=source.pk, actor=KEY, now=NOW)


class TestFind:
    def test_gives_the_tenants_source(self, acme):
        source = make_source(acme)

        assert sources.find(tenant_id=acme.pk, source_id=source.pk) == source

    @pytest.mark.parametrize(
        "source_id", ["", "fs_", "fs_0", "ftx_01kaj9s3h5x2q4z6w8y0v2t4r6", "a\0b", "%", "1" * 40]
    )
    def test_takes_a_malformed_id_for_an_unknown_one(self, acme, source_id):
        with pytest.raises(NotFound):
            sources.find(tenant_id=acme.pk, source_id=source_id)

    def test_hides_other_tenants_sources(self, acme, rival):
        source = make_source(rival)

        with pytest.raises(NotFound):
            sources.find(tenant_id=acme.pk, source_id=source.pk)


class TestLockUsable:
    def lock(self, source, method="ach_debit", tenant=None):
        tenant = tenant or source.tenant
        return topup_terms.lock(
            tenant_id=tenant.pk, mode=tenant.mode, source_id=source.pk, method=method
        )

    def test_takes_an_active_source(self, acme):
        source = make_source(acme)

        assert self.lock(source) == topup_terms.Terms(
            limits.in_force(limits.OwnLimits(), mode=acme.mode),
            approved_above=None,
            holder_type="business",
        )

    def test_refuses_an_unproven_account(self, acme):
        source = make_source(acme, account_number="50001")

        with pytest.raises(FundingSourceNotVerified):
            self.lock(source)

    def test_refuses_a_removed_account(self, acme):
        source = make_source(acme)
        remove(source)

        with pytest.raises(FundingSourceUnusable):
            self.lock(source)

    def test_refuses_an_account_that_has_ended(self, acme):
        source = make_source(acme)
        sources.note_return(source=source, return_code="R02", now=NOW)

        with pytest.raises(FundingSourceUnusable, match="R02"):
            self.lock(source)

    def test_refuses_a_method_the_account_does_not_support(self, acme):
        source = make_source(acme)
        FundingSource.objects.filter(pk=source.pk).update(supported_methods=["ach_debit"])

        with pytest.raises(FundingMethodNotSupported) as refusal:
            self.lock(source, method="rtp")

        assert refusal.value.extra == {"supported_methods": ["ach_debit"]}

    @pytest.mark.parametrize("source_id", ["", "nonsense", "a\0b"])
    def test_takes_a_malformed_id_for_an_unknown_one(self, acme, source_id):
        with pytest.raises(NotFound):
            topup_terms.lock(
                tenant_id=acme.pk, mode=acme.mode, source_id=source_id, method="ach_debit"
            )

    def test_hides_other_tenants_sources(self, acme, rival):
        source = make_source(rival)

        with pytest.raises(NotFound):
            self.lock(source, tenant=acme)


class TestBankAccount:
    def test_is_the_account_in_clear_and_keeps_quiet_about_it(self, acme):
        source = make_source(acme, account_number="0007 7700 0123")

        account = source.in_clear()

        assert account.account_number == "000777000123"
        assert (account.routing_number, account.holder_name) == ("021000021", "Acme Inc")
        assert "000777000123" not in repr(account)


class TestKeyRotation:
    def test_seals_the_number_again_and_keeps_it(self, acme, settings):
        source = make_source(acme, account_number="000777000123")
        new_key = f"new:{base64.b64encode(bytes(32)).decode()}"
        settings.ENCRYPTION_KEYS = [new_key, *settings.ENCRYPTION_KEYS]
        column = rotation.EncryptedColumn(model=FundingSource, column="account_number_token")

        outcome = rotation.rotate(column)

        settings.ENCRYPTION_KEYS = [new_key]
        source.refresh_from_db()
        assert (outcome.rotated, outcome.unreadable) == (1, [])
        assert source.in_clear().account_number == "000777000123"


class TestMakeDefault:
    def test_moves_the_default(self, acme):
        first, second = make_source(acme), make_source(acme, account_number="222222")

        make_default(second)

        defaults = FundingSource.objects.filter(tenant=acme, is_default=True)
        assert [source.pk for source in defaults] == [second.pk]
        assert first.is_default
        audited = AuditEvent.objects.get(action="funding_source.default_set")
        assert (audited.subject_id, audited.actor_id) == (second.pk, "key_1")

    def test_again_changes_nothing(self, acme):
        source = make_source(acme)

        assert make_default(source).is_default
        assert not AuditEvent.objects.filter(action="funding_source.default_set").exists()

    def test_leaves_other_tenants_alone(self, acme, rival):
        theirs = make_source(rival)
        make_source(acme)

        make_default(make_source(acme, account_number="222222"))

        assert FundingSource.objects.get(pk=theirs.pk).is_default

    def test_refuses_an_unproven_account(self, acme):
        first, unproven = make_source(acme), make_source(acme, account_number="50001")

        with pytest.raises(FundingSourceNotVerified):
            make_default(unproven)

        assert FundingSource.objects.get(pk=first.pk).is_default

    def test_refuses_a_removed_account(self, acme):
        source = make_source(acme)
        remove(source)

        with pytest.raises(FundingSourceUnusable):
            make_default(source)


class TestRemove:
    def test_is_recorded_and_told(self, acme):
        source = make_source(acme)

        removed = remove(source)

        assert (removed.status, removed.removed_at) == (SourceStatus.REMOVED, NOW)
        assert not removed.is_default
        assert notices(acme) == [
            {"fundingSourceId": source.pk, "status": "removed", "lastReturnCode": None}
        ]
        audited = AuditEvent.objects.get(action="funding_source.removed")
        assert audited.details == {
            "type": "manual",
            "bankName": "JPMorgan Chase",
            "last4": "6789",
            "routingNumber": "021000021",
        }

    def test_again_changes_nothing(self, acme):
        source = make_source(acme)
        first = remove(source)

        again = sources.remove(
            tenant_id=acme.pk, source_id=source.pk, actor=KEY, now=NOW.replace(year=2027)
        )

        assert again.removed_at == first.removed_at
        assert len(notices(acme)) == 1

    def test_pauses_auto_funding_that_used_it(self, acme):
        source = make_source(acme)
        config = make_auto_funding(acme, source=source)

        remove(source)

        config.refresh_from_db()
        assert (config.paused_reason, config.paused_until) == ("funding_source_removed", None)
        assert [notice["reason"] for notice in notices_of(acme, "auto_funding.paused")] == [
            "funding_source_removed"
        ]

    def test_pauses_auto_funding_that_used_the_default(self, acme):
        config = make_auto_funding(acme)

        remove(make_source(acme))

        config.refresh_from_db()
        assert config.paused_reason == "funding_source_removed"

    def test_leaves_auto_funding_from_another_account_alone(self, acme):
        config = make_auto_funding(acme, source=make_source(acme))

        remove(make_source(acme, account_number="222222"))

        config.refresh_from_db()
        assert config.paused_reason == ""

    @pytest.mark.parametrize(
        "status", ["reserved", "awaiting_confirmation", "pending", "in_transit"]
    )
    def test_waits_for_funding_on_its_way(self, acme, status):
        source = make_source(acme)
        make_funding(acme, source, status=FundingStatus(status))

        with pytest.raises(FundingSourceInUse):
            remove(source)

        assert status_of(source) == "active"

    @pytest.mark.parametrize("status", ["completed", "failed"])
    def test_does_not_wait_for_finished_funding(self, acme, status):
        source = make_source(acme)
        make_funding(acme, source, status=FundingStatus(status))

        assert remove(source).status == "removed"

    def test_makes_no_other_account_the_default(self, acme):
        first = make_source(acme)
        make_source(acme, account_number="222222")

        remove(first)

        assert not sources.has_default(tenant_id=acme.pk)

    def test_lets_the_account_be_added_again(self, acme):
        remove(make_source(acme))

        again = make_source(acme)

        assert (again.status, again.is_default) == ("active", True)

    def test_hides_other_tenants_sources(self, acme, rival):
        source = make_source(rival)

        with pytest.raises(NotFound):
            sources.remove(tenant_id=acme.pk, source_id=source.pk, actor=SYSTEM, now=NOW)

        assert status_of(source) == "active"


class TestNoteReturn:
    def test_keeps_an_account_that_only_lacked_money(self, acme):
        source = make_source(acme)

        sources.note_return(source=source, return_code="R01", now=NOW)

        assert (source.status, source.last_return_code) == ("active", "R01")
        assert notices(acme) == []

    def test_stops_using_an_account_that_was_closed(self, acme):
        source = make_linked_source(acme)

        sources.note_return(source=source, return_code="R02", now=NOW)

        assert status_of(source) == "errored"
        assert notices(acme) == [
            {"fundingSourceId": source.pk, "status": "errored", "lastReturnCode": "R02"}
        ]

    def test_is_only_noted_on_a_removed_account(self, acme):
        source = make_source(acme)
        remove(source)

        sources.note_return(source=source, return_code="R02", now=NOW)

        stored = FundingSource.objects.get(pk=source.pk)
        assert (stored.status, stored.last_return_code) == ("removed", "R02")
