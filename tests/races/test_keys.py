"""API keys under load: the limit of keys holds, a revoked key stops at once."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from common.clock import utc_now
from tenants.actors import SYSTEM
from tenants.errors import InvalidKeySettings
from tenants.models import ApiKey, AuditEvent, Membership, Role, User
from tenants.services import accounts, keys
from tests.builders import NOW, ApiClient, make_key
from tests.races.together import together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("machinery")]


def test_of_30_keys_issued_at_once_20_are(acme):
    def issue(_worker):
        return keys.issue(tenant=acme, name="server", actor=SYSTEM, now=NOW)

    kinds = Counter(type(result).__name__ for result in together(issue, workers=30))

    assert kinds == {"IssuedKey": 20, "TooManyKeys": 10}
    assert ApiKey.objects.count() == 20
    assert AuditEvent.objects.filter(action="api_key.issued").count() == 20


def test_of_8_rotations_without_overlap_one_wins(acme):
    old = keys.issue(tenant=acme, name="server", actor=SYSTEM, now=NOW).key

    def rotate(_worker):
        return keys.rotate(key=old, overlap=timedelta(0), actor=SYSTEM, now=NOW)

    results = together(rotate, workers=8)

    refused = [result for result in results if isinstance(result, InvalidKeySettings)]
    assert len(refused) == 7
    assert ApiKey.objects.count() == 2


def test_no_request_passes_after_the_revocation_was_answered(acme):
    key = make_key(acme)
    key_id = ApiKey.objects.get().pk
    revoked = []

    def use(worker):
        if worker == 0:
            keys.revoke(key_id=key_id, actor=SYSTEM, now=utc_now())
            revoked.append(True)
            return []
        passed_late = []
        for _ in range(20):
            was_revoked = bool(revoked)
            status = ApiClient(key).get("/api/v1/test/notes/x").status_code
            passed_late.append(was_revoked and status != 401)
        return passed_late

    outcomes = together(use, workers=8)

    assert not any(any(outcome) for outcome in outcomes)


def test_one_person_invited_many_times_at_once_is_one_person(acme):
    def invite(_worker):
        return accounts.create_member(
            tenant_id=acme.pk,
            email="dana@acme.example",
            role=Role.VIEWER,
            password=None,
            actor=SYSTEM,
            now=NOW,
        )

    results = together(invite, workers=8)

    assert {type(result) for result in results} == {Membership}
    assert (User.objects.count(), Membership.objects.count()) == (1, 1)
