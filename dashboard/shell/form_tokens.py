"""The token of a form that makes one thing, however often it is sent.

It names the thing before it is made: the second click, or a repeat after a lost answer, finds it.
Signed, for one purpose and one tenant, and good for a limited time.
"""

from __future__ import annotations

from typing import Any, ClassVar, cast

from django import forms
from django.core import signing
from django.core.cache import cache
from django.http import QueryDict

from common import crypto

_DAY = 24 * 60 * 60
_HOUR = 60 * 60
_SALT = "dashboard.form."


def new(what: str, *, purpose: str, tenant_id: str) -> str:
    """A token for a form shown to this tenant; `what` is the id of the thing to be made."""
    return signing.dumps({"what": what, "tenant": tenant_id}, salt=_SALT + purpose)


def what_of(token: str, *, purpose: str, tenant_id: str, seconds: int = _DAY) -> str | None:
    """What a token of this purpose, tenant and age names; None for any other text."""
    try:
        found = signing.loads(token, salt=_SALT + purpose, max_age=seconds)
    except signing.BadSignature:
        return None
    return str(found["what"]) if found["tenant"] == tenant_id else None


class OnceForm(forms.Form):
    """A form with such a token. Sent after its time it is shown again, with a fresh one."""

    purpose: ClassVar[str]
    seconds: ClassVar[int] = _DAY
    what: str

    token = forms.CharField(widget=forms.HiddenInput, max_length=1000, required=False)

    def __init__(
        self, *args: Any, tenant_id: str, what: str, about: str = "", **kwargs: Any
    ) -> None:
        """`what`: the thing this form would make if it is shown now; `about`: the id of the one
        row it changes, for which alone its token is good."""
        super().__init__(*args, **kwargs)
        self._tenant_id = tenant_id
        self._use = f"{self.purpose}:{about}" if about else self.purpose
        self._fresh = new(what, purpose=self._use, tenant_id=tenant_id)
        self.initial["token"] = self._fresh

    def clean(self) -> dict[str, Any] | None:
        token = self.cleaned_data.pop("token", "")
        what = what_of(token, purpose=self._use, tenant_id=self._tenant_id, seconds=self.seconds)
        if what is None:
            self.renew()
            raise forms.ValidationError(
                "This form has expired. Check what you entered and send it again."
            )
        self.what = what
        return self.cleaned_data

    def renew(self) -> None:
        """Show this form with a fresh token next: the one that was sent is used up or too old."""
        data = cast("QueryDict", self.data).copy()
        data["token"] = self._fresh
        self.data = data

    def claim(self) -> bool:
        """Whether this valid form is here for the first time. For what does no harm when it is
        done twice all the same: the memory is a cache."""
        return cache.add(self._claim, 1, timeout=self.seconds)

    def release(self) -> None:
        """Take a claim back, after a refusal or an error: the same form may be sent again."""
        cache.delete(self._claim)

    @property
    def _claim(self) -> str:
        return f"form:{self.purpose}:{self.what}"


class SecretForm(OnceForm):
    """A form that makes a secret and shows it once. What it names is the secret, encrypted: the
    second click of a double click shows the same one, for an hour at most and to nobody else."""

    seconds = _HOUR

    def __init__(self, *args: Any, tenant_id: str, secret: str, **kwargs: Any) -> None:
        encrypted = crypto.encrypt(secret, context=self._context(tenant_id))
        super().__init__(*args, tenant_id=tenant_id, what=encrypted, **kwargs)

    @property
    def secret(self) -> str:
        """The secret of a valid form."""
        return crypto.decrypt(self.what, context=self._context(self._tenant_id))

    def _context(self, tenant_id: str) -> str:
        return f"form.{self.purpose}:{tenant_id}"
