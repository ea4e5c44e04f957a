"""Lets in whom a provider of single sign-on vouches for (decision 0203).

A person is known by issuer and subject. The first time, by an address that the provider has
verified, in a domain of the connection. A tenant's provider never lets in our staff, nor our
staff's anybody else.
"""

from __future__ import annotations

from datetime import datetime

import structlog
from allauth.socialaccount.models import SocialAccount
from django.core.exceptions import ValidationError
from django.db import transaction

from tenants.emails import queue_account_notice
from tenants.errors import InvalidName, SignInRefused
from tenants.models import Role, Tenant, User
from tenants.services import members, names, sign_ins
from tenants.sso.connections import Connection
from tenants.sso.identity import Identity

log = structlog.get_logger(__name__)


def admit(connection: Connection, identity: Identity, *, address: str, now: datetime) -> User:
    """The person to sign in, made a member where the provider says so. `address` is where the
    browser is. Raises SignInRefused."""
    try:
        return _admit(connection, identity, address, now)
    except SignInRefused as refusal:
        log.warning("sso_refused", connection=connection.id, reason=str(refusal))
        raise


@transaction.atomic
def _admit(connection: Connection, identity: Identity, address: str, now: datetime) -> User:
    if not connection.is_of_staff:
        _lock_tenant(connection)
    role = _role(connection, identity)
    linked = _linked(connection, identity)
    user = linked or _person_of_address(connection, identity)
    _require_side(connection, user)
    if connection.is_of_staff:
        _require_roles_confirmed(connection, identity, user)
    else:
        user = _saved(user)
        members.follow_provider(
            tenant_id=connection.tenant, user=user, role=role, connection=connection.name, now=now
        )
    if linked is None:
        _link(connection, identity, user, address, now)
    return user


def known_as(connection: Connection, identity: Identity, *, user: User) -> bool:
    """Whether the provider knows this person by the identity. One query."""
    found = SocialAccount.objects.filter(
        provider=connection.id, uid=identity.uid, user_id=user.pk, user__is_active=True
    )
    return bool(found.exists())


@transaction.atomic
def unlink(*, user: User, now: datetime) -> int:
    """Forget as whom providers know this person, who is linked anew at the next sign-in. Returns
    how many identities they had."""
    rows = SocialAccount.objects.filter(user_id=user.pk)
    providers = list(rows.order_by("provider").values_list("provider", flat=True))
    rows.delete()
    for provider in providers:
        sign_ins.unlinked_by_support(user_id=user.pk, connection=provider, now=now)
    return len(providers)


def _lock_tenant(connection: Connection) -> None:
    """People of a tenant are let in one after the other. Raises SignInRefused."""
    rows = Tenant.objects.select_for_update(no_key=True)
    if rows.filter(pk=connection.tenant).first() is None:
        raise SignInRefused("This organization does not exist any more.")


def _role(connection: Connection, identity: Identity) -> Role | None:
    """The role that the provider gives in a tenant, the mightier of several; None if the connection
    maps none. Raises SignInRefused."""
    if connection.is_of_staff or not connection.roles:
        return None
    given = {connection.roles[value] for value in identity.values if value in connection.roles}
    for role in (Role.APPROVER, Role.MEMBER, Role.VIEWER):
        if role in given:
            return role
    raise SignInRefused(
        f"{connection.name} gives you no role here. Ask whoever manages it at your organization."
    )


def _require_roles_confirmed(connection: Connection, identity: Identity, user: User) -> None:
    """Of staff: two people give a role, and no provider does; but who has one that the provider
    does not say, where the connection maps any, is not let in. Raises SignInRefused."""
    if not connection.roles:
        return
    said = {connection.roles.get(value) for value in identity.values}
    held = set(user.groups.values_list("name", flat=True))
    if unsaid := sorted(held - said):
        raise SignInRefused(
            f"{connection.name} does not confirm your role {', '.join(unsaid)}. Have it added"
            " there, or have an administrator end it here."
        )


def _linked(connection: Connection, identity: Identity) -> User | None:
    people = User.objects.filter(
        socialaccount__provider=connection.id, socialaccount__uid=identity.uid
    )
    return people.defer("password").first()


def _person_of_address(connection: Connection, identity: Identity) -> User:
    """Who has the address, or a new person, not saved yet. Raises SignInRefused."""
    if not identity.email:
        raise SignInRefused(
            f"{connection.name} did not confirm your e-mail address. Ask whoever manages it at your"
            " organization."
        )
    _require_domain(connection, identity.email)
    user = User.objects.filter(email=identity.email).first()
    if user is None:
        if connection.is_of_staff:
            raise SignInRefused("Nobody who works for us has this address.")
        return User(email=identity.email, name=_name(identity))
    if SocialAccount.objects.filter(provider=connection.id, user=user).exists():
        raise SignInRefused(
            f"Your account at {connection.name} is another one than before. Ask support to connect"
            " the new one."
        )
    return user


def _require_side(connection: Connection, user: User) -> None:
    """Staff come in by our own provider, everybody else by their tenant's. Raises SignInRefused."""
    _require_domain(connection, user.email)
    if not user.is_active:
        raise SignInRefused("This account is closed.")
    if user.is_superuser:
        raise SignInRefused("A superuser signs in with the password.")
    if user.is_staff != connection.is_of_staff:
        raise SignInRefused(
            "You work for us: sign in with the password, or at our own provider."
            if user.is_staff
            else "You do not work for us."
        )


def _require_domain(connection: Connection, email: str) -> None:
    """Raises SignInRefused for an address that the connection does not speak for."""
    try:
        User._meta.get_field("email").run_validators(email)
    except ValidationError:
        raise SignInRefused("Your e-mail address is malformed.") from None
    if not (email.isascii() and connection.speaks_for(email)):
        domain = email.rpartition("@")[2]  # the whole address would stand in the log
        raise SignInRefused(f"{connection.name} cannot sign in addresses at {domain}.")


def _saved(user: User) -> User:
    if not user._state.adding:
        return user
    return User.objects.create_user(email=user.email, name=user.name)


def _name(identity: Identity) -> str:
    try:
        return names.checked(identity.name)
    except InvalidName:
        return ""


def _link(
    connection: Connection, identity: Identity, user: User, address: str, now: datetime
) -> None:
    """Know the person by this identity from now on, and tell them."""
    SocialAccount.objects.create(
        user=user,
        provider=connection.id,
        uid=identity.uid,
        extra_data={"issuer": identity.issuer, "subject": identity.subject},
    )
    sign_ins.account_changed(
        user_id=user.pk, action="sign_in.linked", kind=connection.name, now=now
    )
    queue_account_notice(user=user, change="identity_linked", address=address, now=now)
