"""A live key whose switch is off loosens nothing of auto-funding, in whatever words."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection

from common.clock import utc_now
from funding.models import AutoFundingConfig
from networks.sandbox.bank import SandboxBank
from tenants.actors import SYSTEM, user
from tenants.errors import NotAnOwner
from tenants.models import ApiKey, AuditEvent, Mode, OutgoingEmail, Role
from tenants.services import key_switches, keys
from tests.builders import ApiClient, make_auto_funding, make_member, make_tenant

PATH = "/api/v1/balance/auto-funding/config"
BOSS, CFO = "boss@acme.example", "cfo@acme.example"
SAVED = {
    "enabled": False,
    "confirmation_threshold": 5_000,
    "monthly_limit": 90_000,
    "confirm_topups": True,
    "confirmation_emails": [BOSS, CFO],
}
LOOSER = [
    {"confirmationThreshold": None},
    {"confirmationThreshold": 5_001},
    {"confirmationThreshold": 100_000_000},
    {"monthlyLimit": None},
    {"monthlyLimit": 90_001},
    {"confirmTopups": False},
    {"confirmationEmails": []},
    {"confirmationEmails": [BOSS]},
    {"confirmationEmails": [BOSS, CFO, "evil@example.com"]},
    {"confirmationEmails": ["evil@example.com"]},
    {"confirmationThreshold": 4_000, "confirmationEmails": ["evil@example.com"]},
    {"fundingAmount": 5_000},
]
STRICTER = [
    {},
    {"confirmationThreshold": 5_000},
    {"confirmationThreshold": 0},
    {"monthlyLimit": 89_999},
    {"confirmTopups": True},
    {"confirmationEmails": [CFO, BOSS]},
    {"confirmationEmails": [CFO.upper(), BOSS]},
    {"enabled": False},
    {"fundingAmount": 5_001},
    {"fundingAmount": 60_000},
]


@pytest.fixture
def live(db, connect):
    connect(SandboxBank(), modes=("sandbox", "live"))
    return make_tenant(mode=Mode.LIVE)


@pytest.fixture
def saved(live):
    return make_auto_funding(live, **SAVED)


def issue(tenant, *, may=True):
    return keys.issue(
        tenant=tenant,
        name="server",
        may_loosen_auto_funding=may,
        actor=SYSTEM,
        now=utc_now(),
    )


def turn(key, *, allowed, actor=SYSTEM):
    return key_switches.let_loosen_auto_funding(
        key_id=key.pk, allowed=allowed, actor=actor, now=utc_now()
    )


def stored():
    row = AutoFundingConfig.objects.get()
    return {name: getattr(row, name) for name in SAVED}


def refused(response):
    assert (response.status_code, response.json()["code"]) == (403, "loosening_not_allowed")
    assert "may loosen auto-funding" in response.json()["detail"]
    return True


class TestOff:
    @pytest.mark.parametrize("body", LOOSER)
    def test_refuses_what_protects_less(self, live, saved, body):
        client = ApiClient(issue(live, may=False).text)

        assert refused(client.post_json(PATH, body))

        assert stored() == SAVED
        assert not OutgoingEmail.objects.exists()
        assert not AuditEvent.objects.filter(action="auto_funding.configured").exists()

    @pytest.mark.parametrize("body", STRICTER)
    def test_takes_what_protects_as_much_or_more(self, live, saved, body):
        client = ApiClient(issue(live, may=False).text)

        assert client.post_json(PATH, body).status_code == 200

    def test_names_what_would_be_loosened(self, live, saved):
        client = ApiClient(issue(live, may=False).text)

        body = client.post_json(PATH, {"confirmationThreshold": None, "monthlyLimit": None}).json()

        assert body["detail"] == (
            "The switch `may loosen auto-funding` of this API key is off, and this would protect"
            " less: Approval is needed above, Monthly limit. A person may change it in the"
            " dashboard, or an owner turn the switch on there under API keys."
        )

    def test_names_no_approver_before_settings_were_ever_saved(self, live):
        client = ApiClient(issue(live, may=False).text)

        assert refused(client.post_json(PATH, {"confirmationEmails": ["evil@example.com"]}))
        assert client.post_json(PATH, {"confirmationThreshold": 0}).status_code == 200

    def test_stays_off_for_the_key_that_replaces_it(self, live, saved):
        key = issue(live, may=False).key
        first = keys.rotate(key=key, overlap=timedelta(0), actor=SYSTEM, now=utc_now())
        second = keys.rotate(key=first.key, overlap=timedelta(0), actor=SYSTEM, now=utc_now())

        assert not second.key.may_loosen_auto_funding
        assert refused(ApiClient(second.text).post_json(PATH, {"confirmationThreshold": None}))

    def test_counts_from_the_next_request_on(self, live, saved):
        issued = issue(live)
        client = ApiClient(issued.text)
        assert client.post_json(PATH, {"confirmationThreshold": 6_000}).status_code == 200

        assert turn(issued.key, allowed=False)

        assert refused(client.post_json(PATH, {"confirmationThreshold": 7_000}))
        assert stored()["confirmation_threshold"] == 6_000

    def test_lets_a_replay_repeat_its_answer_and_nothing_else(self, live, saved):
        issued = issue(live)
        client = ApiClient(issued.text)
        body, header = {"confirmationThreshold": 6_000}, {"Idempotency-Key": "once"}
        first = client.post_json(PATH, body, **header)
        assert client.post_json(PATH, {"confirmationThreshold": 5_000}).status_code == 200
        turn(issued.key, allowed=False)

        again = client.post_json(PATH, body, **header)

        assert (again.status_code, again.json()) == (200, first.json())
        assert stored()["confirmation_threshold"] == 5_000

    def test_refuses_the_same_request_again(self, live, saved):
        client = ApiClient(issue(live, may=False).text)
        body, header = {"confirmationThreshold": None}, {"Idempotency-Key": "once"}

        assert refused(client.post_json(PATH, body, **header))
        assert refused(client.post_json(PATH, body, **header))

        assert stored() == SAVED

    def test_is_that_keys_own(self, live, saved):
        issue(live, may=False)

        answer = ApiClient(issue(live).text).post_json(PATH, {"confirmationThreshold": None})

        assert answer.status_code == 200


class TestOn:
    def test_is_how_keys_are_made(self, live, saved):
        issued = issue(live)

        assert issued.key.may_loosen_auto_funding
        answer = ApiClient(issued.text).post_json(PATH, {"confirmationThreshold": None})
        assert answer.status_code == 200

    def test_is_how_the_last_release_makes_them(self, live):
        """Its processes do not know the column."""
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO tenants_apikey"
                " (id, tenant_id, name, prefix, digest, scopes, allowed_networks, created_at)"
                " VALUES ('key_old', %s, 'old', 'bal_live_old', 'd', '{}', '{}', now())",
                [live.pk],
            )

        assert ApiKey.objects.get(pk="key_old").may_loosen_auto_funding

    @pytest.mark.parametrize("body", LOOSER)
    def test_is_whatever_was_chosen_in_the_sandbox(self, acme, body):
        make_auto_funding(acme, **SAVED)
        client = ApiClient(issue(acme, may=False).text)

        assert client.post_json(PATH, body).status_code == 200


class TestTurning:
    @pytest.fixture
    def owner(self, live):
        return make_member(live, email=BOSS, role=Role.OWNER)

    @pytest.fixture
    def key(self, live, owner):
        make_member(live, email=CFO, role=Role.OWNER)
        return issue(live).key

    @pytest.mark.parametrize(
        ("allowed", "action", "words"),
        [
            (False, "api_key.loosening_forbidden", "can no longer loosen auto-funding"),
            (True, "api_key.loosening_allowed", "can loosen auto-funding"),
        ],
    )
    def test_is_audited_and_mailed_to_all_owners(self, key, owner, allowed, action, words):
        ApiKey.objects.filter(pk=key.pk).update(may_loosen_auto_funding=not allowed)

        assert turn(key, allowed=allowed, actor=user(owner.pk))

        line = AuditEvent.objects.get(action=action)
        assert (line.actor_id, line.subject_id) == (owner.pk, key.pk)
        mails = OutgoingEmail.objects.filter(template="access_changed")
        told = {mail.to: mail.context["what"] for mail in mails}
        assert told == dict.fromkeys((BOSS, CFO), f"API key server {words}")

    def test_twice_is_once(self, key, owner):
        assert turn(key, allowed=False, actor=user(owner.pk))
        assert not turn(key, allowed=False, actor=user(owner.pk))

        assert AuditEvent.objects.filter(action__startswith="api_key.loosening").count() == 1
        assert OutgoingEmail.objects.filter(template="access_changed").count() == 2

    @pytest.mark.parametrize("role", [Role.APPROVER, Role.MEMBER, Role.VIEWER])
    def test_takes_an_owner(self, live, key, role):
        person = make_member(live, email="lee@acme.example", role=role)

        with pytest.raises(NotAnOwner):
            turn(key, allowed=False, actor=user(person.pk))

        key.refresh_from_db()
        assert key.may_loosen_auto_funding

    def test_who_makes_a_key_without_it_is_in_the_audit_log(self, live):
        key = issue(live, may=False).key

        line = AuditEvent.objects.get(action="api_key.issued", subject_id=key.pk)
        assert line.details["mayLoosenAutoFunding"] is False
