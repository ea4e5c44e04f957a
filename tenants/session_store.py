"""Sessions in the database, under a digest of what the browser holds.

The cookie holds a secret, and `session_key` is its digest everywhere: in the rows of sessions and
in django-allauth's list of them. Who reads the database or a backup of it cannot sign in with it.

What a session holds is found by a function that returns one row, and no role of the product reads
it otherwise. It is signed for that session alone (decision 0197).
"""

from __future__ import annotations

import hashlib
from typing import Any, Self

from django.contrib.sessions.backends import db
from django.utils import timezone
from django.utils.crypto import get_random_string

from common.engine import sql

SECRET_LENGTH = 43  # of letters and digits: 256 bits
_KEY_LENGTH = 40  # what the columns hold: 160 bits
_FIND = "SELECT session_data, expire_date FROM tenants_find_session(%(key)s)"


class SessionStore(db.SessionStore):
    """`secret` is what the cookie holds; None for a session that was found by its key."""

    secret: str | None = None

    @classmethod
    def of_cookie(cls, secret: str | None) -> Self:
        """The session of a browser that sent this cookie, if it sent one."""
        if not secret:
            return cls()
        store = cls(key_of(secret))
        store.secret = secret
        return store

    def load(self) -> dict[str, Any]:
        row = sql.first(_FIND, {"key": self.session_key})
        if row is None or row[1] is None or row[1] <= timezone.now():
            self._session_key = None
            return {}
        return self.decode(row[0])

    @property
    def key_salt(self) -> str:
        """Of the signature, so that what a session holds says nothing in the row of another."""
        return f"{super().key_salt}.{self.session_key}"

    def delete(self, session_key: str | None = None) -> None:
        """Django's, which does not read the session first."""
        key = session_key or self.session_key
        if key is not None:
            self.model.objects.filter(session_key=key).delete()

    def _get_new_session_key(self) -> str:
        self.secret = get_random_string(SECRET_LENGTH)
        return key_of(self.secret)


def key_of(secret: str) -> str:
    """The key under which the session of this cookie is stored."""
    return hashlib.sha256(secret.encode()).hexdigest()[:_KEY_LENGTH]
