"""The second factor at sign-in (django-allauth's MFA): its policy, and whether a person has one."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db.models.signals import post_init, pre_save
from django.dispatch import receiver

from common import brand, crypto, rotation
from tenants.models import User

_CONTEXT = "mfa.authenticator"
_SECRETS = ("secret", "seed")  # of an app's codes, of the recovery codes
STRONG = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


class _Stored(str):
    """An encrypted secret of a row, which knows whose row it is: allauth asks the adapter to
    decrypt it without saying so."""

    __slots__ = ("user_id",)
    user_id: str


class Adapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth ships no types
    """Encrypts secrets at rest, and names the service by our own address, never by the request's
    Host."""

    def encrypt(self, text: str) -> str:
        """For nobody yet: allauth encrypts before it has a row, and `_bind` does so again."""
        return crypto.encrypt(text, context=_CONTEXT)

    def decrypt(self, encrypted_text: str) -> str:
        if isinstance(encrypted_text, _Stored):
            return _opened(encrypted_text)
        return crypto.decrypt(encrypted_text, context=_CONTEXT)

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        return {"id": urlsplit(settings.BASE_URL).hostname or "", "name": brand.name()}

    def get_totp_issuer(self) -> str:
        return brand.name()

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


@receiver(post_init, sender=Authenticator, dispatch_uid="whose_secrets")
def _name_owner(instance: Authenticator, **_signal: object) -> None:
    """Tell the secrets of a row whose they are."""
    data = instance.__dict__.get("data")  # not there if the column was not read
    for key in _SECRETS:
        if data and isinstance(data.get(key), str):
            data[key] = _stored(data[key], instance.user_id)


@receiver(pre_save, sender=Authenticator, dispatch_uid="bind_secrets")
def _bind(instance: Authenticator, **_signal: object) -> None:
    """Bind new secrets to their person, so that nobody's work in another one's row."""
    for key in _SECRETS:
        if key in instance.data:
            text = _opened(_stored(instance.data[key], instance.user_id))
            token = crypto.encrypt(text, context=_context(instance.user_id))
            instance.data[key] = _stored(token, instance.user_id)


def _stored(token: str, user_id: str) -> _Stored:
    stored = _Stored(token)
    stored.user_id = user_id
    return stored


def _opened(token: _Stored) -> str:
    """The secret; one that an earlier release stored was bound to nobody. Raises Undecryptable."""
    try:
        return crypto.decrypt(token, context=_context(token.user_id))
    except crypto.UnknownKey:
        raise
    except crypto.Undecryptable:
        return crypto.decrypt(token, context=_CONTEXT)


def _context(user_id: str) -> str:
    return f"{_CONTEXT}:{user_id}"


for _key in _SECRETS:
    rotation.also(rotation.EncryptedEntry(Authenticator, "data", _key, _CONTEXT, owner="user_id"))
