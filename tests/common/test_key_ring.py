"""One key for each purpose, and a key service outside that may be away."""

from __future__ import annotations

import base64
import json
from io import StringIO

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.core.management import CommandError, call_command

from common import crypto, key_ring
from common.key_ring import RING, KeyServiceAway
from tests.key_service import PATH, Vault

BODY = base64.b64encode(b"k" * 32).decode()
CONTEXT = "funding_source.account_number:fs_1"


def make(name):
    """An entry of the new_encryption_key command."""
    output = StringIO()
    call_command("new_encryption_key", name, "--json", stdout=output)
    return json.loads(output.getvalue())["entry"]


def open_with(key, token):
    raw = base64.b64decode(token.rpartition(":")[2])
    return AESGCM(key).decrypt(raw[:12], raw[12:], CONTEXT.encode())


class TestPurposes:
    @pytest.fixture(autouse=True)
    def derived(self, settings):
        settings.ENCRYPTION_KEYS = [f"k2:hkdf:{BODY}"]

    def test_each_has_a_key_of_its_own(self):
        numbers = RING.key("k2", purpose="funding_source.account_number")
        secrets = RING.key("k2", purpose="webhook_endpoint.secret")

        assert len({numbers, secrets, b"k" * 32}) == 3
        assert {len(numbers), len(secrets)} == {32}

    def test_are_those_of_rfc_5869(self):
        """HKDF-SHA256 without salt, worked out with hmac alone: tokens must open for ever."""
        key = RING.key("k2", purpose="mfa.authenticator")

        assert key.hex() == "dc804caa022640b45275db1cbf8c57c33684f6c7f182c23b442e76743d0f6adb"

    def test_a_token_opens_with_the_key_of_its_purpose_alone(self):
        token = crypto.encrypt("000123456789", context=CONTEXT)

        with pytest.raises(InvalidTag):
            open_with(b"k" * 32, token)
        with pytest.raises(InvalidTag):
            open_with(RING.key("k2", purpose="webhook_endpoint.secret"), token)
        own = RING.key("k2", purpose="funding_source.account_number")
        assert open_with(own, token) == b"000123456789"

    def test_what_a_key_of_earlier_releases_encrypted_opens(self, settings):
        settings.ENCRYPTION_KEYS = [f"k1:{BODY}"]
        token = crypto.encrypt("000123456789", context=CONTEXT)
        assert open_with(b"k" * 32, token) == b"000123456789"
        settings.ENCRYPTION_KEYS = [f"k2:hkdf:{BODY}", f"k1:{BODY}"]

        assert crypto.decrypt(token, context=CONTEXT) == "000123456789"
        assert crypto.key_id(crypto.encrypt("x", context=CONTEXT)) == "k2"


class TestEntries:
    @pytest.mark.parametrize(
        ("entry", "complaint"),
        [
            (f"k2:aes:{BODY}", "key k2 is neither hkdf nor wrapped"),
            (f"k2:hkdf:hkdf:{BODY}", "key k2 is neither hkdf nor wrapped"),
            ("k2:hkdf:AAAA", "key k2 is not the base64 of 32 bytes"),
            ("k2:wrapped:AAAA", "key k2 is not the base64 of 32 bytes"),
            (f"k 2:hkdf:{BODY}", "each key needs an id of its own"),
            (f":hkdf:{BODY}", "each key needs an id of its own"),
        ],
    )
    def test_that_are_malformed_are_refused_without_being_told(self, entry, complaint):
        with pytest.raises(ValueError, match=complaint) as refusal:
            key_ring.parse([entry])

        assert BODY not in str(refusal.value)

    def test_hide_their_key(self):
        (entry,) = key_ring.parse([f"k2:hkdf:{BODY}"]).values()

        assert repr(entry) == "Entry(name='k2', kind='hkdf')"
        assert key_ring.text_of(entry) == f"k2:hkdf:{BODY}"

    def test_a_new_one_is_derived_from(self, settings):
        settings.ENCRYPTION_KEYS = [f"k1:{BODY}"]

        entry = make("k2")

        assert key_ring.parse([entry])["k2"].kind == "hkdf"
        assert make("k2") != entry

    @pytest.mark.parametrize("name", ["k1", "k 2", ""])
    def test_a_new_one_needs_a_name_of_its_own(self, settings, name):
        settings.ENCRYPTION_KEYS = [f"k1:{BODY}"]

        with pytest.raises(CommandError, match="an id of its own"):
            make(name)


class TestKeyService:
    @pytest.fixture(autouse=True)
    def vault(self, settings):
        settings.KEY_SERVICE = PATH
        key_ring._service.cache_clear()
        RING._open.clear()
        vault = key_ring.service()
        assert isinstance(vault, Vault)
        settings.ENCRYPTION_KEYS = [make("k3"), f"k1:{BODY}"]
        yield vault
        key_ring._service.cache_clear()

    def test_holds_what_opens_the_keys(self, settings):
        assert settings.ENCRYPTION_KEYS[0].startswith("k3:wrapped:")
        token = crypto.encrypt("000123456789", context=CONTEXT)

        assert crypto.key_id(token) == "k3"
        assert crypto.decrypt(token, context=CONTEXT) == "000123456789"

    def test_is_asked_once_for_all_values_and_purposes(self, vault):
        for number in range(50):
            crypto.encrypt("x", context=f"webhook_endpoint.secret:wh_{number}")
            crypto.encrypt("x", context=CONTEXT)

        assert vault.unwrapped == ["k3"]

    def test_is_asked_again_after_a_while(self, vault, settings):
        crypto.encrypt("x", context=CONTEXT)
        RING._open[RING.entries()["k3"]].until = 0

        crypto.encrypt("x", context=CONTEXT)

        assert vault.unwrapped == ["k3", "k3"]

    def test_that_is_away_is_no_lost_value(self, vault):
        token = crypto.encrypt("000123456789", context=CONTEXT)
        vault.is_away = True
        assert crypto.decrypt(token, context=CONTEXT) == "000123456789"  # for a while
        RING._open.clear()

        with pytest.raises(KeyServiceAway):
            crypto.decrypt(token, context=CONTEXT)
        with pytest.raises(KeyServiceAway):
            crypto.encrypt("x", context=CONTEXT)

        vault.is_away = False
        assert crypto.decrypt(token, context=CONTEXT) == "000123456789"

    def test_a_key_that_it_does_not_take_is_not_here(self, settings, vault):
        token = crypto.encrypt("x", context=CONTEXT)
        RING._open.clear()
        wrapped = settings.ENCRYPTION_KEYS[0].rpartition(":")[2]
        settings.ENCRYPTION_KEYS = [f"k3:wrapped:{wrapped[:-8]}AAAAAAA="]

        with pytest.raises(crypto.UnknownKey, match="the vault does not know key k3"):
            crypto.decrypt(token, context=CONTEXT)

    def test_open_keys_are_few(self, settings):
        settings.ENCRYPTION_KEYS = [make(f"w{number}") for number in range(key_ring.OPEN_MAX + 3)]

        for name in RING.entries():
            RING.key(name, purpose="x")

        assert len(RING._open) == key_ring.OPEN_MAX

    def test_that_is_away_makes_no_key(self, vault):
        vault.is_away = True

        with pytest.raises(CommandError, match="did not answer"):
            make("k4")
