"""Terms of an instant rail by two people."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from common.clock import utc_now
from networks.instant import changing, rails
from networks.instant.changing import ChangeRefused
from networks.instant.models import InstantLine, InstantRail, InstantVersion
from networks.instant.rails import NoTerms
from networks.instant.terms import Connection, InvalidTerms, RailTerms, TransportKind
from networks.rails.models import Rail, RailKind

pytestmark = pytest.mark.django_db
ADA, BOB = "usr_ada", "usr_bob"
PIN = "ab" * 32


def terms(**changes):
    values = {
        "participant": "124000313",
        "routing_number": "124000313",
        "creditor_name": "Ballast Inc.",
        "connection": Connection(base_url="https://bank.example/fednow", pins=(PIN,)),
        "active": True,
    }
    return RailTerms(**{**values, **changes})


def opened(name="fednow_one", profile="fednow", kind=RailKind.REAL):
    return changing.open_rail(name=name, profile=profile, kind=kind, now=utc_now())


def propose(rail, account="4000323456", by=ADA, **changes):
    return changing.propose(
        rail=rail,
        terms=terms(**changes),
        account=account,
        by=by,
        reason="The agreement says so",
        now=utc_now(),
    )


def approve(version, by=BOB):
    return changing.approve(version_id=version.pk, by=by, now=utc_now())


class TestRail:
    def test_is_opened_once_with_its_line(self):
        rail = opened()

        assert opened() == rail
        assert (rail.profile, InstantLine.objects.get().rail_id) == ("fednow", "fednow_one")
        known = Rail.objects.get(pk="fednow_one")
        assert (known.driver, known.kind) == ("instant", "real")
        with pytest.raises(NoTerms):
            rails.current("fednow_one")

    @pytest.mark.parametrize(
        ("name", "profile", "kind", "told"),
        [
            ("fednow_one", None, RailKind.REAL, "Say which network"),
            ("fednow_one", "fednow", None, "Say which network"),
            ("Fednow", "fednow", RailKind.REAL, "up to 16 small letters"),
            ("sandbox", "fednow", RailKind.STAND_IN, "another kind has this name"),
        ],
    )
    def test_needs_a_name_and_a_kind(self, name, profile, kind, told):
        with pytest.raises(ChangeRefused, match=told):
            opened(name, profile, kind)
        assert not InstantRail.objects.exists()


class TestTerms:
    def test_are_in_force_when_another_person_agreed(self):
        version = propose(opened())
        with pytest.raises(NoTerms):
            rails.current("fednow_one")

        approve(version)

        now_in_force = rails.current("fednow_one")
        assert (now_in_force.account, now_in_force.version.number) == ("4000323456", 1)
        assert now_in_force.terms == terms()
        assert "4000323456" not in now_in_force.version.account_token

    def test_end_when_the_next_ones_are_in_force(self):
        rail = opened()
        first = propose(rail)
        approve(first)

        second = propose(rail, account="", payment_max=5_000)
        approve(second)

        first.refresh_from_db()
        second.refresh_from_db()
        assert (first.status, first.superseded_at) == ("superseded", second.decided_at)
        assert (second.number, second.account, second.parsed.payment_max) == (
            2,
            "4000323456",
            5_000,
        )

    def test_nobody_agrees_to_their_own(self):
        version = propose(opened())

        for decide in (changing.approve, changing.reject):
            with pytest.raises(ChangeRefused, match="somebody else decides"):
                decide(version_id=version.pk, by=ADA, now=utc_now())

        version.refresh_from_db()
        assert (version.status, version.decided_by) == ("proposed", "")

    def test_the_database_knows_who_proposed(self):
        version = propose(opened())

        with pytest.raises(IntegrityError, match="decided_by_another"), transaction.atomic():
            InstantVersion.objects.filter(pk=version.pk).update(
                status="current", decided_by=ADA, decided_at=utc_now()
            )
        with pytest.raises(IntegrityError, match="withdrawn_by_its_own"), transaction.atomic():
            InstantVersion.objects.filter(pk=version.pk).update(
                status="withdrawn", decided_by=BOB, decided_at=utc_now()
            )

    def test_are_decided_once(self):
        version = propose(opened())
        approve(version)

        for decide in (changing.approve, changing.reject):
            with pytest.raises(ChangeRefused, match="does not wait"):
                decide(version_id=version.pk, by=BOB, now=utc_now())
        with pytest.raises(ChangeRefused, match="does not wait"):
            changing.withdraw(version_id=version.pk, by=ADA, now=utc_now())

    def test_are_withdrawn_by_whoever_proposed_them(self):
        rail = opened()
        version = propose(rail)
        with pytest.raises(ChangeRefused, match="Somebody else proposed it"):
            changing.withdraw(version_id=version.pk, by=BOB, now=utc_now())

        changing.withdraw(version_id=version.pk, by=ADA, now=utc_now())

        version.refresh_from_db()
        assert (version.status, version.decided_by) == ("withdrawn", ADA)
        assert propose(rail).number == 2  # the next may be proposed

    def test_are_set_alone_when_none_wait_for_a_decision(self):
        rail = opened()
        version = propose(rail)
        who: dict[str, Any] = {"account": "1", "by": "Olga", "reason": "At once", "now": utc_now()}
        with pytest.raises(ChangeRefused, match="waits for a decision"):
            changing.change_alone(rail=rail, terms=terms(), **who)

        changing.reject(version_id=version.pk, by=BOB, now=utc_now())
        alone = changing.change_alone(rail=rail, terms=terms(), **who)

        assert (alone.status, alone.by_command, alone.decided_by) == ("current", True, "Olga")

    def test_that_are_in_force_are_not_proposed_again(self):
        rail = opened()
        approve(propose(rail))

        with pytest.raises(ChangeRefused, match="These are the terms in force"):
            propose(rail)
        with pytest.raises(ChangeRefused, match="These are the terms in force"):
            propose(rail, account="")

        assert propose(rail, account="999").number == 2  # another account is a change

    @pytest.mark.parametrize("account", ["", "12 34", "ünlü", "1" * 35])
    def test_need_an_account(self, account):
        with pytest.raises(ChangeRefused, match="our own account"):
            propose(opened(), account=account)
        assert not InstantVersion.objects.exists()

    def test_name_a_participant_as_its_network_does(self):
        with pytest.raises(ChangeRefused, match="RTP is called by 11 characters"):
            propose(opened("rtp_one", "rtp"))

        assert propose(opened("rtp_one", "rtp"), participant="124000313T1").number == 1

    def test_share_no_mailbox_with_another_rail(self):
        approve(propose(opened()))
        other = opened("fednow_two", kind=RailKind.STAND_IN)

        with pytest.raises(ChangeRefused, match="fednow_one takes the messages"):
            propose(other)
        with pytest.raises(ChangeRefused, match="fednow_one takes the messages"):
            propose(
                other, connection=Connection(base_url="https://BANK.example/fednow", pins=(PIN,))
            )

        elsewhere = Connection(base_url="https://bank.example/test", pins=(PIN,))
        assert propose(other, connection=elsewhere).number == 1

    def test_share_no_folder_with_another_rail(self):
        there = Connection(kind=TransportKind.FOLDER, folder="/srv/fednow")
        propose(opened(), connection=there)

        with pytest.raises(ChangeRefused, match="fednow_one takes the messages"):
            propose(opened("fednow_two"), connection=there)

    def test_have_the_line_try_again(self):
        rail = opened()
        later = utc_now() + timedelta(hours=1)
        InstantLine.objects.update(
            trouble="no_key", trouble_since=utc_now(), next_attempt_at=later, attempts=9
        )

        approve(propose(rail))

        line = InstantLine.objects.get()
        assert line.next_attempt_at
        assert line.next_attempt_at < later
        assert line.attempts == 0


@pytest.mark.parametrize(
    "connection",
    [
        {"base_url": "http://bank.example", "pins": (PIN,)},
        {"base_url": "https://user@bank.example/", "pins": (PIN,)},
        {"base_url": "https://bank.example/?a=b", "pins": (PIN,)},
        {"base_url": "https://bank.example/rtp", "pins": ()},
        {"base_url": "https://bank.example/rtp", "pins": (PIN, PIN)},
        {"base_url": "https://bank.example/rtp", "pins": ("cd" * 32, "ef" * 32, PIN)},
        {"base_url": "https://bank.example/rtp", "pins": ("xy",)},
    ],
)
def test_terms_name_a_server_and_its_key(connection):
    with pytest.raises(InvalidTerms, match="connection"):
        terms(connection=Connection(**connection))
