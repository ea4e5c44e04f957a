"""The second factor at sign-in (django-allauth's MFA): its policy, and whether a person has one."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from django.conf import settings

from common import crypto, rotation
from tenants.models import User

# allauth encrypts before it has a row, so the row cannot be part of the encryption context.
_CONTEXT = "mfa.authenticator"
STRONG = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


class Adapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth ships no types
    """Encrypts secrets at rest, and names the service by our own address, never by the request's
    Host."""

    def encrypt(self, text: str) -> str:
        return crypto.encrypt(text, context=_CONTEXT)

    def decrypt(self, encrypted_text: str) -> str:
        return crypto.decrypt(encrypted_text, context=_CONTEXT)

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        return {"id": urlsplit(settings.BASE_URL).hostname or "", "name": "Ballast"}

    def generate_authenticator_name(self, user: User, type: Authenticator.Type) -> str:
        count = Authenticator.objects.filter(user_id=user.pk, type=type).count()
        return f"Passkey {count + 1}"


def is_set_up(*, user_id: str) -> bool:
    """Whether the person signs in with an app's code or a passkey. One query."""
    return bool(Authenticator.objects.filter(user_id=user_id, type__in=STRONG).exists())


def types_of(*, user_id: str) -> frozenset[str]:
    """What the person has: `totp`, `webauthn`, `recovery_codes`. One query."""
    return frozenset(Authenticator.objects.filter(user_id=user_id).values_list("type", flat=True))


def set_up_by(user_ids: Collection[str]) -> frozenset[str]:
    """Which of these people sign in with a second factor. One query."""
    rows = Authenticator.objects.filter(user_id__in=user_ids, type__in=STRONG)
    return frozenset(rows.values_list("user_id", flat=True))


for _key in ("secret", "seed"):  # of an app's codes, of the recovery codes
    rotation.also(rotation.EncryptedEntry(Authenticator, "data", _key, _CONTEXT))
