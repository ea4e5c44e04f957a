"""Who loosens a safeguard of auto-funding is seen doing it, and cannot flood mailboxes by it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

import pytest

from funding.errors import (
    TooManySafeguardChanges,
)
from funding.models import (
    AutoFundingConfig,
)
from funding.services import auto_funding_config
from funding.services.auto_funding_config import Changes
from tenants.actors import api_key, staff, user
from tenants.models import ApiKey, OutgoingEmail, Role
from tests.builders import (
    NOW,
    mails_of,
    make_key,
    make_member,
)

KEY = api_key("key_1")


def configure(tenant, now=NOW, actor=KEY, **changes: Any):
    auto_funding_config.configure(
        tenant_id=tenant.pk, changes=cast("Changes", changes), actor=actor, now=now
    )
    return AutoFundingConfig.objects.get(tenant=tenant)


def change_of(row):
    return row["what"], row["before"], row["after"]


class TestSafeguards:
    def warnings(self, tenant):
        mails = OutgoingEmail.objects.filter(template="safeguard_changed").order_by("to")
        return [(mail.to, [change_of(row) for row in mail.context["changes"]]) for mail in mails]

    @pytest.mark.parametrize(
        ("old", "new", "change"),
        [
            (
                {"confirmation_threshold": 5_000},
                {"confirmation_threshold": 5_001},
                ("Approval is needed above", "$50.00", "$50.01"),
            ),
            (
                {"confirmation_threshold": 0},
                {"confirmation_threshold": None},
                ("Approval is needed above", "$0.00", "no limit"),
            ),
            (
                {"monthly_limit": 100},
                {"monthly_limit": 101},
                ("Monthly limit", "$1.00", "$1.01"),
            ),
            (
                {"monthly_limit": 100},
                {"monthly_limit": None},
                ("Monthly limit", "$1.00", "no limit"),
            ),
            (
                {"confirm_topups": True},
                {"confirm_topups": False},
                ("Top-ups need approval, too", "yes", "no"),
            ),
            (
                {"confirmation_threshold": 5_000, "funding_amount": 5_001},
                {"funding_amount": 5_000},
                ("An amount that needs approval", "$50.01", "$50.00, which needs none"),
            ),
        ],
    )
    def test_loosening_is_mailed_to_those_who_approved(self, acme, old, new, change):
        make_member(acme, email="owner@acme.example")
        make_member(acme, email="approver@acme.example", role=Role.APPROVER)
        make_member(acme, email="member@acme.example", role=Role.MEMBER)
        configure(acme, **old)

        configure(acme, **new)

        assert self.warnings(acme) == [
            ("approver@acme.example", [change]),
            ("owner@acme.example", [change]),
        ]
        mail = OutgoingEmail.objects.filter(template="safeguard_changed")[0]
        assert mail.context["changed_by"] == "API key key_1"
        assert mail.context["changed_at"] == "2026-11-20T15:00:00.000000Z"

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ({"funding_amount": 5_001}, {"funding_amount": 90_000}),
            ({"funding_amount": 4_000}, {"funding_amount": 5_000}),
            ({}, {"funding_amount": 4_000}),
        ],
        ids=["asked before and after", "asked neither", "the first amount"],
    )
    def test_an_amount_on_its_side_of_the_limit_loosens_nothing(self, acme, old, new):
        make_member(acme, email="owner@acme.example")
        configure(acme, confirmation_threshold=5_000, **old)

        configure(acme, **new)

        assert self.warnings(acme) == []

    def test_says_by_name_who_did_it(self, acme):
        dana = make_member(acme, email="dana@acme.example")
        make_key(acme)
        key = ApiKey.objects.get(tenant=acme)
        configure(acme, confirmation_threshold=100)

        configure(acme, actor=user(dana.pk), confirmation_threshold=200)
        configure(acme, actor=api_key(key.pk), confirmation_threshold=300)
        configure(acme, actor=staff("usr_1"), confirmation_threshold=400)

        told = OutgoingEmail.objects.filter(template="safeguard_changed").order_by("created_at")
        assert {
            mail.context["changes"][0]["after"]: mail.context["changed_by"] for mail in told
        } == {
            "$2.00": "dana@acme.example",
            "$3.00": "API key test",
            "$4.00": "Support",
        }

    def test_new_approvers_are_told_to_the_old_ones_and_the_owners(self, acme):
        make_member(acme, email="owner@acme.example")
        make_member(acme, email="approver@acme.example", role=Role.APPROVER)
        configure(acme, confirmation_emails=["cfo@acme.example"])

        configure(acme, confirmation_emails=["evil@example.com"])

        change = ("Who approves", "cfo@acme.example", "evil@example.com")
        assert self.warnings(acme) == [
            ("cfo@acme.example", [change]),
            ("owner@acme.example", [change]),
        ]

    def test_what_an_owner_loosens_who_is_alone_is_told_to_them(self, acme):
        """Found: the approver that the settings named was told, and the owner was not."""
        owner = make_member(acme, email="owner@acme.example")
        configure(acme, confirmation_emails=["cfo@acme.example"], confirmation_threshold=500)

        configure(acme, actor=user(owner.pk), confirmation_threshold=None)

        change = ("Approval is needed above", "$5.00", "no limit")
        assert self.warnings(acme) == [
            ("cfo@acme.example", [change]),
            ("owner@acme.example", [change]),
        ]

    def test_naming_approvers_for_the_first_time_is_told_to_the_owners(self, acme):
        make_member(acme, email="owner@acme.example")
        configure(acme, confirmation_threshold=5)

        configure(acme, confirmation_emails=["cfo@acme.example"])

        assert self.warnings(acme) == [
            ("owner@acme.example", [("Who approves", "owners and approvers", "cfo@acme.example")])
        ]

    def test_changed_at_the_speed_of_a_program_are_refused_before_mail_floods(self, acme):
        make_member(acme, email="owner@acme.example")
        configure(acme, confirmation_emails=[f"a{number}@acme.example" for number in range(10)])

        def swap():
            now = AutoFundingConfig.objects.get().confirmation_emails
            configure(acme, confirmation_emails=[f"b{address}"[:60] for address in now])

        for _ in range(10):
            swap()
        with pytest.raises(TooManySafeguardChanges):
            swap()

        assert OutgoingEmail.objects.filter(template="safeguard_changed").count() == 110
        assert (
            AutoFundingConfig.objects.get().confirmation_emails[0] == "b" * 10 + "a0@acme.example"
        )

    def test_may_still_be_tightened_switched_off_and_changed_by_people(self, acme):
        make_member(acme, email="owner@acme.example")
        configure(acme, confirmation_emails=["cfo@acme.example"], monthly_limit=100)
        OutgoingEmail.objects.bulk_create(
            OutgoingEmail(
                tenant=acme, to="x@acme.example", template="safeguard_changed", created_at=NOW
            )
            for _ in range(100)
        )

        configure(acme, monthly_limit=99, enabled=False)
        auto_funding_config.configure(
            tenant_id=acme.pk, changes={"monthly_limit": 200}, actor=user("usr_1"), now=NOW
        )
        configure(acme, now=NOW + timedelta(days=1), monthly_limit=300)

        assert mails_of(acme, "safeguard_changed").count("cfo@acme.example") == 2

    def test_tightening_is_nobodys_alarm(self, acme):
        make_member(acme, email="owner@acme.example")
        configure(acme, confirmation_threshold=5_000, monthly_limit=100)

        configure(acme, confirmation_threshold=4_999, monthly_limit=99, confirm_topups=True)

        assert mails_of(acme, "safeguard_changed") == []

    def test_the_first_settings_loosen_nothing(self, acme):
        make_member(acme, email="owner@acme.example")

        configure(acme, confirmation_emails=["cfo@acme.example"], confirmation_threshold=5)

        assert mails_of(acme, "safeguard_changed") == []
