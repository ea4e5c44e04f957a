from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import IntegrityError

from tenants import key_text, selectors
from tenants import scopes as known_scopes
from tenants.actors import SYSTEM
from tenants.errors import InvalidKeySettings, InvalidName, TooManyKeys, UnknownScope
from tenants.models import ApiKey, AuditEvent, Mode
from tenants.services import keys
from tests.builders import NOW

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


def issue(tenant, *, now=NOW, **options):
    return keys.issue(
        **{"tenant": tenant, "name": "server", "actor": SYSTEM, "now": now, **options}
    )


def holder(text, *, now=NOW):
    return selectors.find_key_holder(text=text, now=now)


class TestText:
    @pytest.mark.parametrize(("mode", "word"), [(Mode.SANDBOX, "test"), (Mode.LIVE, "live")])
    def test_says_its_mode_and_carries_256_random_bits(self, mode, word):
        text = key_text.new(mode)

        assert re.fullmatch(f"bal_{word}_[0-9A-Za-z]{{43}}[0-9A-Za-z]{{6}}", text)
        assert len(text) == key_text.LENGTH == 58
        assert key_text.is_wellformed(text)

    def test_is_never_the_same(self):
        assert len({key_text.prefix_of(key_text.new(Mode.SANDBOX)) for _ in range(1000)}) == 1000

    def test_every_single_mistyped_character_is_noticed(self):
        text = key_text.new(Mode.SANDBOX)

        for place in range(len(text)):
            other = "0" if text[place] != "0" else "1"
            assert not key_text.is_wellformed(text[:place] + other + text[place + 1 :])

    @pytest.mark.parametrize("text", ["", "bal_test_", "x" * 58, "é" * 58, "bal_test_" + "0" * 50])
    def test_what_cannot_be_a_key_is_noticed(self, text):
        assert not key_text.is_wellformed(text)

    def test_all_zeros_have_their_checksum(self):
        body = "bal_test_" + "0" * 43
        assert key_text.is_wellformed(body + key_text._checksum(body))


class TestIssue:
    def test_stores_a_digest_and_never_the_key(self, acme):
        issued = issue(acme)

        row = ApiKey.objects.values().get()
        assert issued.text not in str(row)
        assert issued.text[17:] not in str(row)
        assert row["prefix"] == issued.text[:17]
        assert row["digest"] == key_text.digest_of(issued.text)
        assert row["scopes"] == sorted(known_scopes.ALL)

    def test_is_audited_without_the_key(self, acme):
        issued = issue(acme, scopes=["balance:read", "balance:read"])

        event = AuditEvent.objects.get(action="api_key.issued")
        assert (event.tenant_id, event.subject_id) == (acme.pk, issued.key.pk)
        assert event.details == {
            "name": "server",
            "scopes": ["balance:read"],
            "mayLoosenAutoFunding": True,
        }
        assert issued.text not in str(AuditEvent.objects.values())

    @pytest.mark.parametrize(
        ("options", "refusal"),
        [
            ({"scopes": ["balance:write"]}, UnknownScope),
            ({"scopes": [""]}, UnknownScope),
            ({"scopes": []}, InvalidKeySettings),
            ({"expires_at": NOW}, InvalidKeySettings),
            ({"expires_at": NOW - DAY}, InvalidKeySettings),
            ({"allowed_networks": ["10.0.0.1/8"]}, InvalidKeySettings),
            ({"allowed_networks": ["acme.example"]}, InvalidKeySettings),
            ({"allowed_networks": ["10.0.0.0/8"] * 51}, InvalidKeySettings),
            ({"name": ""}, InvalidName),
            ({"name": "   "}, InvalidName),
            ({"name": "x" * 121}, InvalidName),
            ({"name": "two\nlines"}, InvalidName),
        ],
    )
    def test_refuses_settings_that_make_no_sense(self, acme, options, refusal):
        with pytest.raises(refusal):
            issue(acme, **options)

        assert not ApiKey.objects.exists()
        assert not AuditEvent.objects.filter(action="api_key.issued").exists()

    def test_twenty_usable_keys_are_the_most(self, acme, rival):
        issued = [issue(acme) for _ in range(keys.KEYS_PER_TENANT_MAX)]
        with pytest.raises(TooManyKeys):
            issue(acme)
        issue(rival)

        keys.revoke(key_id=issued[0].key.pk, actor=SYSTEM, now=NOW)
        issue(acme)
        with pytest.raises(TooManyKeys):
            issue(acme)

    def test_expired_keys_do_not_count(self, acme):
        for _ in range(keys.KEYS_PER_TENANT_MAX):
            issue(acme, expires_at=NOW + DAY)

        assert issue(acme, now=NOW + DAY).key.tenant_id == acme.pk


class TestRotate:
    def rotate(self, key, *, overlap=DAY, now=NOW):
        return keys.rotate(key=key, overlap=overlap, actor=SYSTEM, now=now)

    def test_old_and_new_work_together_for_the_overlap(self, acme):
        old = issue(acme)

        new = self.rotate(old.key, overlap=DAY)

        assert holder(old.text, now=NOW + DAY - timedelta(microseconds=1)) is not None
        assert holder(old.text, now=NOW + DAY) is None
        assert holder(new.text, now=NOW + 100 * DAY) is not None

    def test_without_overlap_the_old_one_ends_at_once(self, acme):
        old = issue(acme)

        self.rotate(old.key, overlap=timedelta(0))

        assert holder(old.text) is None

    def test_the_new_one_has_the_same_rights(self, acme):
        old = issue(
            acme,
            scopes=["balance:read"],
            allowed_networks=["10.0.0.0/8"],
            expires_at=NOW + 30 * DAY,
        )
        ApiKey.objects.update(reads_per_second=7, writes_per_second=3)

        new = self.rotate(old.key).key

        assert (new.name, new.scopes, new.allowed_networks) == (
            "server", ["balance:read"], ["10.0.0.0/8"],
        )  # fmt: skip
        assert (new.reads_per_second, new.writes_per_second) == (7, 3)
        assert new.expires_at == NOW + 30 * DAY

    def test_never_lengthens_the_old_one(self, acme):
        old = issue(acme, expires_at=NOW + timedelta(hours=1))

        self.rotate(old.key, overlap=DAY)

        assert ApiKey.objects.get(pk=old.key.pk).expires_at == NOW + timedelta(hours=1)

    def test_works_at_the_limit_of_keys_once_for_each(self, acme):
        issued = [issue(acme) for _ in range(keys.KEYS_PER_TENANT_MAX)]
        for old in issued:
            assert holder(self.rotate(old.key).text) is not None

        with pytest.raises(TooManyKeys):
            self.rotate(issued[0].key)

        assert holder(self.rotate(issued[0].key, overlap=timedelta(0)).text) is not None
        assert holder(issued[0].text) is None

    def test_is_audited(self, acme):
        old = issue(acme)

        self.rotate(old.key, overlap=DAY)

        event = AuditEvent.objects.get(action="api_key.rotated")
        assert event.subject_id == old.key.pk
        assert event.details == {"oldKeyEndsAt": (NOW + DAY).isoformat()}

    @pytest.mark.parametrize("overlap", [timedelta(seconds=-1), timedelta(days=7, seconds=1)])
    def test_refuses_another_overlap_than_0_to_7_days(self, acme, overlap):
        old = issue(acme)

        with pytest.raises(InvalidKeySettings):
            self.rotate(old.key, overlap=overlap)

        assert ApiKey.objects.count() == 1

    def test_refuses_a_key_that_ended(self, acme):
        revoked, expired = issue(acme), issue(acme, expires_at=NOW + DAY)
        keys.revoke(key_id=revoked.key.pk, actor=SYSTEM, now=NOW)

        with pytest.raises(InvalidKeySettings):
            self.rotate(revoked.key)
        with pytest.raises(InvalidKeySettings):
            self.rotate(expired.key, now=NOW + DAY)


class TestRevoke:
    def test_acts_at_once_and_is_audited(self, acme):
        issued = issue(acme)

        assert keys.revoke(key_id=issued.key.pk, actor=SYSTEM, now=NOW)

        assert holder(issued.text) is None
        assert AuditEvent.objects.get(action="api_key.revoked").subject_id == issued.key.pk

    def test_twice_is_once(self, acme):
        issued = issue(acme)
        keys.revoke(key_id=issued.key.pk, actor=SYSTEM, now=NOW)

        assert not keys.revoke(key_id=issued.key.pk, actor=SYSTEM, now=NOW + DAY)

        assert ApiKey.objects.get().revoked_at == NOW
        assert AuditEvent.objects.filter(action="api_key.revoked").count() == 1

    def test_of_what_never_was(self):
        assert not keys.revoke(key_id="key_1", actor=SYSTEM, now=NOW)


class TestHolder:
    def test_is_read_in_one_query(self, acme, django_assert_num_queries):
        issued = issue(acme, scopes=["balance:read"], allowed_networks=["10.0.0.0/8"])

        with django_assert_num_queries(1):
            found = holder(issued.text)

        assert (found.key_id, found.tenant_id, found.mode) == (issued.key.pk, acme.pk, "sandbox")
        assert found.scopes == frozenset({"balance:read"})
        assert found.allowed_networks == ("10.0.0.0/8",)
        assert (found.is_suspended, found.last_used_at) == (False, None)

    def test_expiry_is_exact(self, acme):
        issued = issue(acme, expires_at=NOW + DAY)

        assert holder(issued.text, now=NOW + DAY - timedelta(microseconds=1)) is not None
        assert holder(issued.text, now=NOW + DAY) is None


def last_used():
    return ApiKey.objects.values_list("last_used_at", flat=True).get()


class TestTouch:
    def test_writes_at_most_once_a_minute(self, acme):
        key = issue(acme).key

        moments = []
        for seconds in (0, 1, 60, 61, 62, 130):
            keys.touch(key_id=key.pk, now=NOW + timedelta(seconds=seconds))
            moments.append((last_used() - NOW).total_seconds())

        assert moments == [0, 0, 0, 61, 61, 130]

    @pytest.mark.django_db(transaction=True)
    def test_needs_no_transaction_of_its_caller(self, acme):
        key = issue(acme).key

        keys.touch(key_id=key.pk, now=NOW)

        assert ApiKey.objects.get().last_used_at == NOW


class TestRates:
    @pytest.mark.parametrize("column", ["reads_per_second", "writes_per_second"])
    def test_of_zero_cannot_be_stored(self, acme, column):
        issue(acme)

        with pytest.raises(IntegrityError, match="api_key_rate_not_zero"):
            ApiKey.objects.update(**{column: 0})
