"""What a SAML provider said, kept under a code until the browser brings that back.

A provider's page sends its answer across sites, so browsers leave out the cookie of our session.
The answer is judged at once and kept, for a minute; the browser is sent on with the code, and comes
with its session. An assertion is taken once.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import asdict

from django.core import signing
from django.core.cache import cache
from django.utils.crypto import get_random_string

from tenants.sso.connections import Saml
from tenants.sso.exchanges import SECONDS
from tenants.sso.identity import SKEW_SECONDS, Identity, Refused
from tenants.sso.saml.responses import Answer

_KEPT_SECONDS = 60
_LENGTH = 43  # of letters and digits: 256 bits
# Nothing that the cache holds may say who somebody is, unless we wrote it.
_SALT = "tenants.sso.saml.codes"


def keep(connection: Saml, answer: Answer) -> str:
    """Keep it; returns the code. Raises Refused if the assertion was brought before."""
    # Longer than any exchange that it could belong to is taken.
    if not cache.add(_key(connection, answer.assertion_id), 1, timeout=SECONDS + SKEW_SECONDS):
        raise Refused("brought before")
    code = get_random_string(_LENGTH)
    values = asdict(answer.identity) | {"values": sorted(answer.identity.values)}
    kept = {"identity": values, "request": answer.request_id, "connection": connection.id}
    cache.set(_key(connection, code), signing.dumps(kept, salt=_SALT), timeout=_KEPT_SECONDS)
    return code


def take(connection: Saml, code: str, *, request_id: str) -> Identity:
    """What was kept under the code, for the last time. Raises Refused if there is nothing, or if it
    does not answer this request."""
    key = _key(connection, code)
    sealed = cache.get(key)
    if sealed is None or not cache.delete(key):
        raise Refused("an unknown code")
    try:
        kept = signing.loads(sealed, salt=_SALT, max_age=_KEPT_SECONDS)
    except signing.BadSignature:
        raise Refused("not kept by us") from None
    is_answer = hmac.compare_digest(kept["request"].encode(), request_id.encode())
    if not is_answer or kept["connection"] != connection.id:
        raise Refused("an answer to another request")
    values = kept["identity"]
    return Identity(**values | {"values": frozenset(values["values"])})


def _key(connection: Saml, secret: str) -> str:
    return f"sso-saml:{connection.id}:{hashlib.sha256(secret.encode()).hexdigest()}"
