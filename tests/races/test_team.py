"""Many clicks at once about the same team."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.core import mail
from django.db import transaction

from tenants import actors
from tenants.errors import InvitationClosed, NotAnOwner
from tenants.models import (
    ApiKey,
    AuditEvent,
    Invitation,
    Membership,
    OutgoingEmail,
    Role,
    User,
)
from tenants.services import emails, invitations, keys, members
from tests.builders import NOW, make_member
from tests.races.together import together, wait_for_a_lock

pytestmark = pytest.mark.django_db(transaction=True)


def invite(tenant):
    return invitations.invite(
        tenant_id=tenant.pk,
        email="new@acme.example",
        role=Role.MEMBER,
        actor=actors.SYSTEM,
        now=NOW,
    )


def token():
    emails.send_due(now=NOW)
    return str(mail.outbox[-1].body).split("/join/")[1].split("/")[0]


def kinds(outcomes):
    return Counter(type(outcome).__name__ for outcome in outcomes)


def test_of_8_invitations_of_one_address_one_is_made(acme):
    outcomes = together(lambda _worker: invite(acme), workers=8)

    assert {outcome.pk for outcome in outcomes} == {outcomes[0].pk}
    assert OutgoingEmail.objects.count() == 1


def test_of_8_acceptances_one_makes_the_membership(acme, rival):
    nell = make_member(rival, email="new@acme.example", role=Role.OWNER)
    invite(acme)
    secret = token()

    outcomes = together(
        lambda _worker: invitations.accept(token=secret, user=nell, now=NOW), workers=8
    )

    assert kinds(outcomes) == {"Membership": 1, "InvitationClosed": 7}
    assert Membership.objects.filter(tenant=acme).count() == 1
    assert AuditEvent.objects.filter(action="invitation.accepted").count() == 1


def test_of_8_sign_ups_one_makes_the_account(acme):
    invite(acme)
    secret = token()

    outcomes = together(
        lambda worker: invitations.join(
            token=secret, name=f"Nell {worker}", password="correct horse", now=NOW
        ),
        workers=8,
    )

    assert kinds(outcomes)["User"] == 1
    assert User.objects.count() == Membership.objects.filter(tenant=acme).count() == 1


def test_of_two_invitations_used_at_once_one_makes_the_account(acme, rival):
    secrets = []
    for tenant in (acme, rival):
        invite(tenant)
        secrets.append(token())

    outcomes = together(
        lambda worker: invitations.join(
            token=secrets[worker], name="Nell", password="correct horse", now=NOW
        ),
        workers=2,
    )

    assert kinds(outcomes) == {"User": 1, "AccountExists": 1}
    nell = User.objects.get()
    left = secrets[next(n for n, made in enumerate(outcomes) if made != nell)]
    assert invitations.accept(token=left, user=nell, now=NOW).user_id == nell.pk


def test_of_two_owners_who_remove_each_other_one_stays(acme):
    pair = [
        make_member(acme, email=f"{name}@acme.example", role=Role.OWNER) for name in ("dana", "lee")
    ]
    ids = [Membership.objects.get(user=user).pk for user in pair]

    outcomes = together(
        lambda worker: members.remove(
            tenant_id=acme.pk,
            membership_id=ids[1 - worker],
            actor=actors.user(pair[worker].pk),
            now=NOW,
        ),
        workers=2,
    )

    assert kinds(outcomes) == {"Ended": 1, "NotAnOwner": 1}
    assert Membership.objects.filter(tenant=acme, role=Role.OWNER).count() == 1


def test_who_is_removed_makes_no_key_afterwards(acme):
    dana, lee = (
        make_member(acme, email=f"{name}@acme.example", role=Role.OWNER) for name in ("dana", "lee")
    )
    acts = (
        lambda: keys.issue(tenant=acme, name="server", actor=actors.user(lee.pk), now=NOW),
        lambda: members.remove(
            tenant_id=acme.pk,
            membership_id=Membership.objects.get(user=lee).pk,
            actor=actors.user(dana.pk),
            now=NOW,
        ),
    )

    issued, left = together(lambda worker: acts[worker](), workers=2)

    usable = ApiKey.objects.filter(tenant=acme, revoked_at=None)
    assert not usable.exists()
    if isinstance(issued, NotAnOwner):
        assert (left.keys.revoked, ApiKey.objects.count()) == (0, 0)
    else:
        assert (left.keys.revoked, ApiKey.objects.count()) == (1, 1)


def test_an_acceptance_gets_no_role_that_a_newer_invitation_takes_back(acme, rival):
    nell = make_member(rival, email="new@acme.example", role=Role.OWNER)
    invite(acme)
    secret = token()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            invitations.invite(
                tenant_id=acme.pk,
                email=nell.email,
                role=Role.VIEWER,
                actor=actors.SYSTEM,
                now=NOW + timedelta(minutes=2),
            )
            accepting = pool.submit(
                together,
                lambda _worker: invitations.accept(token=secret, user=nell, now=NOW),
                workers=1,
            )
            wait_for_a_lock()
        (outcome,) = accepting.result()

    assert isinstance(outcome, InvitationClosed)
    assert not Membership.objects.filter(tenant=acme).exists()


def test_of_two_owners_who_remove_each_other_beside_a_third_one_leaves(acme):
    names = ("dana", "lee", "owen")
    people = [make_member(acme, email=f"{name}@acme.example", role=Role.OWNER) for name in names]
    ids = [Membership.objects.get(user=user).pk for user in people]

    outcomes = together(
        lambda worker: members.remove(
            tenant_id=acme.pk,
            membership_id=ids[1 - worker],
            actor=actors.user(people[worker].pk),
            now=NOW,
        ),
        workers=2,
    )

    assert kinds(outcomes) == {"Ended": 1, "NotAnOwner": 1}
    assert Membership.objects.filter(tenant=acme, role=Role.OWNER).count() == 2


def test_an_invitation_lets_nobody_in_once_its_sender_is_removed(acme, rival):
    """Whoever is first: the invited person joins, or the invitation is revoked before."""
    dana, lee = (
        make_member(acme, email=f"{name}@acme.example", role=Role.OWNER) for name in ("dana", "lee")
    )
    nell = make_member(rival, email="new@acme.example", role=Role.OWNER)
    invitations.invite(
        tenant_id=acme.pk, email=nell.email, role=Role.OWNER, actor=actors.user(lee.pk), now=NOW
    )
    secret = token()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            members.remove(
                tenant_id=acme.pk,
                membership_id=Membership.objects.get(tenant=acme, user=lee).pk,
                actor=actors.user(dana.pk),
                now=NOW,
            )
            accepting = pool.submit(
                together,
                lambda _worker: invitations.accept(token=secret, user=nell, now=NOW),
                workers=1,
            )
            wait_for_a_lock()
        (outcome,) = accepting.result()

    assert isinstance(outcome, InvitationClosed)
    assert not Membership.objects.filter(tenant=acme, user=nell).exists()


def test_who_is_removed_invites_nobody_afterwards(acme):
    dana, lee = (
        make_member(acme, email=f"{name}@acme.example", role=Role.OWNER) for name in ("dana", "lee")
    )
    acts = (
        lambda: invitations.invite(
            tenant_id=acme.pk,
            email="second@acme.example",
            role=Role.OWNER,
            actor=actors.user(lee.pk),
            now=NOW,
        ),
        lambda: members.remove(
            tenant_id=acme.pk,
            membership_id=Membership.objects.get(user=lee).pk,
            actor=actors.user(dana.pk),
            now=NOW,
        ),
    )

    together(lambda worker: acts[worker](), workers=2)

    opened = Invitation.objects.filter(tenant=acme, accepted_at=None, revoked_at=None)
    assert not opened.exists()
