from __future__ import annotations

import base64

import pytest

from common import crypto

OLD = "old:" + base64.b64encode(b"o" * 32).decode()
NEW = "new:" + base64.b64encode(b"n" * 32).decode()
CONTEXT = "funding_source.account_number:fs_1"


@pytest.fixture(autouse=True)
def _one_key(settings):
    settings.ENCRYPTION_KEYS = [OLD]


class TestEncryption:
    @pytest.mark.parametrize("text", ["", "000123456789", "é 日本 👍", "x" * 10_000])
    def test_comes_back(self, text):
        assert crypto.decrypt(crypto.encrypt(text, context=CONTEXT), context=CONTEXT) == text

    def test_shows_nothing_of_the_text(self):
        token = crypto.encrypt("000123456789", context=CONTEXT)

        encrypted = base64.b64decode(token.partition(":")[2])
        assert b"0001" not in encrypted
        assert len(encrypted) == 12 + 12 + 16  # nonce, text, tag

    def test_of_the_same_text_differs_each_time(self):
        assert len({crypto.encrypt("x", context=CONTEXT) for _ in range(100)}) == 100

    def test_names_its_key(self):
        assert crypto.key_id(crypto.encrypt("x", context=CONTEXT)) == "old"


class TestRefusal:
    def test_of_a_token_moved_to_another_row(self):
        token = crypto.encrypt("000123456789", context=CONTEXT)

        with pytest.raises(crypto.Undecryptable):
            crypto.decrypt(token, context="funding_source.account_number:fs_2")

    def test_of_any_altered_byte(self):
        token = crypto.encrypt("12", context=CONTEXT)
        encrypted = base64.b64decode(token.partition(":")[2])

        for place in range(len(encrypted)):
            changed = bytearray(encrypted)
            changed[place] ^= 1
            with pytest.raises(crypto.Undecryptable):
                crypto.decrypt(f"old:{base64.b64encode(changed).decode()}", context=CONTEXT)

    @pytest.mark.parametrize("token", ["", "old", "old:", "old:!", "old:AAAA", "no key", "é:é"])
    def test_of_what_is_no_token(self, token):
        with pytest.raises(crypto.Undecryptable) as refusal:
            crypto.decrypt(token, context=CONTEXT)

        assert str(refusal.value) == f"cannot decrypt a value of {CONTEXT}"


class TestRotation:
    def test_the_first_key_writes_and_all_of_them_read(self, settings):
        before = crypto.encrypt("x", context=CONTEXT)
        settings.ENCRYPTION_KEYS = [NEW, OLD]

        after = crypto.encrypt("x", context=CONTEXT)

        assert (crypto.key_id(before), crypto.key_id(after)) == ("old", "new")
        assert crypto.current_key_id() == "new"
        assert crypto.decrypt(before, context=CONTEXT) == "x"

    def test_a_dropped_key_reads_no_more(self, settings):
        before = crypto.encrypt("x", context=CONTEXT)
        settings.ENCRYPTION_KEYS = [NEW]

        with pytest.raises(
            crypto.UnknownKey, match=f"a value of {CONTEXT} is encrypted with key 'old'"
        ):
            crypto.decrypt(before, context=CONTEXT)


class TestKeys:
    @pytest.mark.parametrize(
        ("entries", "complaint"),
        [
            ([], "at least one key is needed"),
            ([OLD, OLD], "each key needs an id of its own"),
            ([":" + "A" * 43 + "="], "each key needs an id of its own"),
            (["a b:" + "A" * 43 + "="], "each key needs an id of its own"),
            (["k1:AAAA"], "key k1 is not the base64 of 32 bytes"),
            (["k1:" + "-" * 43 + "="], "key k1 is not the base64 of 32 bytes"),
            (["k1"], "key k1 is not the base64 of 32 bytes"),
        ],
    )
    def test_that_are_malformed_are_refused_without_being_told(self, entries, complaint):
        with pytest.raises(ValueError, match=complaint) as refusal:
            crypto.parse_keys(entries)

        assert "AAAA" not in str(refusal.value)

    def test_keep_their_order(self):
        assert list(crypto.parse_keys([NEW, OLD])) == ["new", "old"]


class TestFingerprint:
    def test_is_equal_for_equal_text_and_purpose_only(self):
        first = crypto.fingerprint("000123456789", purpose="account")

        assert first == crypto.fingerprint("000123456789", purpose="account")
        assert first != crypto.fingerprint("000123456788", purpose="account")
        assert first != crypto.fingerprint("000123456789", purpose="other")
        assert crypto.fingerprint("b", purpose="a") != crypto.fingerprint("", purpose="a\0b"[:2])
        assert len(first) == 64

    def test_depends_on_its_key(self, settings):
        first = crypto.fingerprint("x", purpose="account")
        settings.FINGERPRINT_KEY = "another"

        assert crypto.fingerprint("x", purpose="account") != first
