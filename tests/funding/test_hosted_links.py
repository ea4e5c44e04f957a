"""From what the provider's module hands over to a bank account, and what becomes of the consent."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import DatabaseError

from common import crypto, rotation
from funding.errors import (
    DuplicateFundingSource,
    InvalidLinkToken,
    LinkNeedsRepair,
    LinkProviderUnavailable,
)
from funding.models import FundingSource, LinkConsent
from funding.services import consents, hosted_links, sources
from funding.tasks.consents import revoke_consents
from networks.errors import InvalidBankDetails
from tenants.actors import SYSTEM
from tenants.models import AuditEvent, Mode
from tests import plaid as played
from tests.builders import NOW, make_tenant
from tests.database.refusals import refusing
from tests.plaid import ACCESS_TOKEN, ACCOUNT_ID, NUMBER, PUBLIC_TOKEN, Reply

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def tenant():
    return make_tenant(name="Northwind", mode=Mode.LIVE)


def finish(tenant, **changes):
    return hosted_links.finish(
        **{
            "tenant_id": tenant.pk,
            "mode": tenant.mode,
            "public_token": PUBLIC_TOKEN,
            "account_id": ACCOUNT_ID,
            "holder_name": "Northwind Inc",
            "actor": SYSTEM,
            "now": NOW,
            **changes,
        }
    )


class TestBegin:
    def test_tells_the_provider_neither_tenant_nor_person(self, plaid, tenant):
        session = hosted_links.begin(tenant_id=tenant.pk, person="17", mode="live", return_url=None)

        [asked] = plaid.bodies("/link/token/create")
        assert session.token == "link-sandbox-1"
        assert session.module.script_url == f"{plaid.url}/link-initialize.js"
        assert len(asked["user"]["client_user_id"]) == 64
        assert tenant.pk not in str(asked)

    def test_is_for_tenants_of_a_connected_provider(self, tenant):
        assert not hosted_links.is_offered(mode="live")
        with pytest.raises(LinkProviderUnavailable):
            hosted_links.begin(tenant_id=tenant.pk, person="1", mode="live", return_url=None)


class TestFinish:
    def test_adds_an_account_that_is_ready(self, plaid, tenant):
        source = finish(tenant)

        source.refresh_from_db()
        assert (source.type, source.status, source.is_default) == ("linked", "active", True)
        assert (source.last4, source.bank_name) == ("0000", "First Platypus Bank")
        assert source.in_clear().account_number == NUMBER
        assert source.link_account_id == ACCOUNT_ID
        assert AuditEvent.objects.get(action="funding_source.added").subject_id == source.pk

    def test_keeps_the_consent_encrypted_and_open(self, plaid, tenant):
        source = finish(tenant)

        consent = LinkConsent.objects.get()
        assert (consent.source, consent.tenant, consent.provider) == (source, tenant, "plaid")
        assert (consent.next_attempt_at, consent.revoked_at) == (None, None)
        assert ACCESS_TOKEN not in consent.secret_token
        assert consent.in_clear() == ACCESS_TOKEN
        assert plaid.consents == {ACCESS_TOKEN}

    def test_recognises_an_account_whose_number_the_bank_makes_anew(self, plaid, tenant):
        plaid.account = played.account(mask="4321", persistent_account_id="lasting")
        plaid.ach = played.ach(account="001111111111111", is_tokenized_account_number=True)
        first = finish(tenant)
        plaid.ach = played.ach(account="002222222222222", is_tokenized_account_number=True)
        plaid.public_tokens.add("public-sandbox-2")

        with pytest.raises(DuplicateFundingSource) as refusal:
            finish(tenant, public_token="public-sandbox-2")

        assert refusal.value.extra == {"existing_id": first.pk}
        assert first.last4 == "4321"
        assert first.in_clear().account_number == "001111111111111"

    def test_looks_at_the_name_before_anything_is_used_up(self, plaid, tenant):
        with pytest.raises(InvalidBankDetails):
            finish(tenant, holder_name="<b>")

        assert plaid.requests == []

    def test_leaves_nothing_behind_when_the_token_is_refused(self, plaid, tenant):
        with pytest.raises(InvalidLinkToken):
            finish(tenant, public_token="public-sandbox-unknown")

        assert not LinkConsent.objects.exists()

    @pytest.mark.parametrize(
        ("code", "refusal"),
        [
            ("ITEM_LOGIN_REQUIRED", LinkNeedsRepair),
            ("NO_AUTH_ACCOUNTS", InvalidLinkToken),
            ("INSTITUTION_DOWN", LinkProviderUnavailable),
        ],
    )
    def test_ends_a_consent_that_led_to_no_account(self, plaid, tenant, code, refusal):
        plaid.refuses("/auth/get", code)

        with pytest.raises(refusal):
            finish(tenant)

        assert not FundingSource.objects.exists()
        assert LinkConsent.objects.get().next_attempt_at == NOW
        assert consents.revoke_due(now=NOW) == 1
        assert plaid.consents == set()

    def test_ends_a_consent_whose_account_is_there_already(self, plaid, tenant):
        first = finish(tenant)
        plaid.public_tokens.add(PUBLIC_TOKEN)

        with pytest.raises(DuplicateFundingSource):
            finish(tenant)

        assert LinkConsent.objects.get(source=None).next_attempt_at == NOW
        assert LinkConsent.objects.get(source=first).next_attempt_at is None

    def test_ends_a_consent_by_and_by_that_a_crash_left(self, plaid, tenant):
        with (
            refusing("funding_fundingsource", on="INSERT"),
            pytest.raises(DatabaseError, match="refused by a test"),
        ):
            finish(tenant)

        assert consents.revoke_due(now=NOW + timedelta(minutes=14)) == 0
        assert consents.revoke_due(now=NOW + timedelta(minutes=15)) == 1
        assert plaid.consents == set()

    def test_writes_no_number_and_no_token_to_the_log(self, plaid, tenant, log):
        finish(tenant)
        plaid.refuses("/item/remove", "INTERNAL_SERVER_ERROR", status=500)
        sources.remove(
            tenant_id=tenant.pk, source_id=FundingSource.objects.get().pk, actor=SYSTEM, now=NOW
        )
        consents.revoke_due(now=NOW)

        assert log.of("consent_kept_for_now")
        for secret in (NUMBER, ACCESS_TOKEN, PUBLIC_TOKEN, played.SECRET):
            assert secret not in log.text


class TestRemoval:
    @pytest.fixture
    def source(self, plaid, tenant):
        return finish(tenant)

    @pytest.fixture
    def removed(self, source, tenant):
        sources.remove(tenant_id=tenant.pk, source_id=source.pk, actor=SYSTEM, now=NOW)

    def test_revokes_the_consent_afterwards(self, plaid, removed):
        assert plaid.consents == {ACCESS_TOKEN}  # nobody is called in the transaction

        revoke_consents()

        consent = LinkConsent.objects.get()
        assert plaid.consents == set()
        assert (consent.secret_token, consent.next_attempt_at) == ("", None)
        assert consent.revoked_at is not None

    def test_asks_again_until_there_is_an_answer(self, plaid, removed):
        plaid.refuses("/item/remove", "INTERNAL_SERVER_ERROR", status=500)
        plaid.answers("/item/remove", Reply(b"nonsense"))

        assert consents.revoke_due(now=NOW) == 1
        assert consents.revoke_due(now=NOW + timedelta(seconds=59)) == 0
        assert consents.revoke_due(now=NOW + timedelta(minutes=1)) == 1
        assert consents.revoke_due(now=NOW + timedelta(minutes=5)) == 0
        assert consents.revoke_due(now=NOW + timedelta(minutes=6)) == 1
        assert LinkConsent.objects.get().revoked_at == NOW + timedelta(minutes=6)

    def test_is_content_when_the_answer_was_lost(self, plaid, removed):
        plaid.consents.clear()

        consents.revoke_due(now=NOW)

        assert LinkConsent.objects.get().revoked_at == NOW

    def test_waits_for_a_provider_that_is_not_connected(self, settings, removed):
        settings.PLAID_CLIENT_ID = ""

        consents.revoke_due(now=NOW)

        consent = LinkConsent.objects.get()
        assert consent.next_attempt_at == NOW + timedelta(minutes=1)
        assert consent.in_clear() == ACCESS_TOKEN

    def test_of_one_goes_on_when_another_cannot_be_read(self, plaid, removed, tenant):
        plaid.public_tokens.add(PUBLIC_TOKEN)
        other = consents.keep(tenant_id=tenant.pk, provider="plaid", secret="access", now=NOW)
        LinkConsent.objects.filter(pk=other.pk).update(
            secret_token=crypto.encrypt("x", context="y"), next_attempt_at=NOW
        )

        assert consents.revoke_due(now=NOW) == 2

        assert plaid.consents == set()
        assert LinkConsent.objects.get(pk=other.pk).next_attempt_at == NOW + timedelta(minutes=1)

    def test_is_final_for_a_consent_already_claimed(self, plaid, tenant, source):
        other = consents.keep(tenant_id=tenant.pk, provider="plaid", secret=ACCESS_TOKEN, now=NOW)
        consents.discard(consent_id=other.pk, now=NOW)
        consents.revoke_due(now=NOW)

        with pytest.raises(RuntimeError):
            consents.attach(consent_id=other.pk, source=source)


def test_consents_are_rotated_with_the_other_secrets():
    assert "funding.LinkConsent.secret_token" in [column.name for column in rotation.columns()]
