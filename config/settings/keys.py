"""Secrets: of sessions, at rest, and of the seal. Outside development unsafe ones are refused."""

from __future__ import annotations

import base64
import hashlib

from common import key_ring
from config import safe_secrets, safety
from config.env import count, encryption_keys, items, secret, text
from config.settings.deployment import DEBUG

_DEVELOPMENT_SECRET = "development-only-" + "x" * 50
SECRET_KEY = secret("SECRET_KEY", development=_DEVELOPMENT_SECRET, debug=DEBUG)
SECRET_KEY_FALLBACKS = items("SECRET_KEY_FALLBACKS")

_DEVELOPMENT_KEY = base64.b64encode(hashlib.sha256(b"ballast development").digest()).decode()
_DEVELOPMENT_ENTRY = f"dev:{_DEVELOPMENT_KEY}"
# `id:hkdf:base64 of 32 bytes`, newest first; the first one writes, all of them read. Without
# `hkdf` it is a key of earlier releases, with `wrapped` one that KEY_SERVICE unwraps.
ENCRYPTION_KEYS = encryption_keys(
    "ENCRYPTION_KEYS",
    development=f"dev2:hkdf:{_DEVELOPMENT_KEY},{_DEVELOPMENT_ENTRY}",
    debug=DEBUG,
    parse=key_ring.parse,
)
# The dotted path of a class (`common.key_ring.KeyService`); by default there is no such service.
KEY_SERVICE = text("KEY_SERVICE", default="common.key_ring.Local")
KEY_CACHE_SECONDS = count("KEY_CACHE_SECONDS", default=300, minimum=1)
if not DEBUG:
    safety.require_from_to("KEY_CACHE_SECONDS", KEY_CACHE_SECONDS, 1, 3600)
_DEVELOPMENT_FINGERPRINT = "development-only"
FINGERPRINT_KEY = secret("FINGERPRINT_KEY", development=_DEVELOPMENT_FINGERPRINT, debug=DEBUG)
# Former keys, newest first: accounts that are known by them keep their names.
FINGERPRINT_KEY_FALLBACKS = items("FINGERPRINT_KEY_FALLBACKS")
safe_secrets.require_different(
    "FINGERPRINT_KEY_FALLBACKS", FINGERPRINT_KEY, *FINGERPRINT_KEY_FALLBACKS
)
# In the form of ENCRYPTION_KEYS. Old keys stay, so that old seals can be proven. Never kept beside
# the database or its backups.
SEAL_KEYS = encryption_keys("SEAL_KEYS", development=_DEVELOPMENT_ENTRY, debug=DEBUG)
# One entry `id:base64 of 32 bytes`: the private half of the Ed25519 key that signs proofs of funds.
PROOF_KEY = encryption_keys(
    "PROOF_KEY", development=_DEVELOPMENT_ENTRY, debug=DEBUG, parse=safe_secrets.parse_one_key
)
# The public halves of former ones in the same form: reports that they signed can be checked.
PROOF_PUBLIC_KEYS = items("PROOF_PUBLIC_KEYS")
safe_secrets.require_public_keys("PROOF_PUBLIC_KEYS", PROOF_PUBLIC_KEYS, beside=PROOF_KEY)
if not DEBUG:
    for _value in (SECRET_KEY, *SECRET_KEY_FALLBACKS):
        safe_secrets.require_random_text(
            "SECRET_KEY" if _value == SECRET_KEY else "SECRET_KEY_FALLBACKS",
            _value,
            development=_DEVELOPMENT_SECRET,
            characters_min=safe_secrets.SECRET_KEY_CHARACTERS_MIN,
        )
    for _value in (FINGERPRINT_KEY, *FINGERPRINT_KEY_FALLBACKS):
        safe_secrets.require_random_text(
            "FINGERPRINT_KEY" if _value == FINGERPRINT_KEY else "FINGERPRINT_KEY_FALLBACKS",
            _value,
            development=_DEVELOPMENT_FINGERPRINT,
            characters_min=safe_secrets.FINGERPRINT_KEY_CHARACTERS_MIN,
        )
    safe_secrets.require_random_keys(
        "ENCRYPTION_KEYS", ENCRYPTION_KEYS, development=_DEVELOPMENT_ENTRY
    )
    safe_secrets.require_random_keys("SEAL_KEYS", SEAL_KEYS, development=_DEVELOPMENT_ENTRY)
    safe_secrets.require_random_keys("PROOF_KEY", PROOF_KEY, development=_DEVELOPMENT_ENTRY)
