"""People who are signed in: a member of a tenant, and somebody of staff."""

from __future__ import annotations

from datetime import timedelta

from allauth.account.authentication import AUTHENTICATION_METHODS_SESSION_KEY
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import Group, Permission

from common.clock import utc_now
from tenants import session_life
from tenants.actors import SYSTEM
from tenants.models import User
from tenants.services import staff as roles
from tenants.session_store import SessionStore

_GROUP = "Benchmark"


def cookie(user: User, *, factor: str = "") -> str:
    """A cookie as after a sign-in by password, and by a second factor of the type `factor`."""
    now = utc_now()
    proofs = [{"method": "password", "at": now.timestamp()}]
    if factor:
        proofs.append({"method": "mfa", "type": factor, "at": now.timestamp()})
    session = SessionStore()
    session[SESSION_KEY] = user.pk
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session[AUTHENTICATION_METHODS_SESSION_KEY] = proofs
    session[AUTHENTICATION_METHODS_SESSION_KEY + "_user"] = user.pk
    session_life.begin(session, now=now)
    session.create()
    return f"{settings.SESSION_COOKIE_NAME}={session.secret}"


def staff() -> User:
    """Somebody of staff who may look at everything."""
    group, _ = Group.objects.get_or_create(name=_GROUP)
    group.permissions.set(Permission.objects.all())
    long_ago = utc_now() - timedelta(days=365)
    person = roles.grant(
        email="staff@benchmark.example", roles=[group.name], actor=SYSTEM, now=long_ago
    )
    # The desk asks for one.
    Authenticator.objects.get_or_create(user=person, type="totp", defaults={"data": {}})
    return person
