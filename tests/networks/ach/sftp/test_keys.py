"""Keys of ours, and host keys from text; weak ones are refused by name."""

from __future__ import annotations

import asyncssh
import pytest

from networks.ach.sftp import keys
from networks.ach.sftp.errors import KeyRefused


def made(kind, **options):
    return asyncssh.generate_private_key(kind, **options)


ED25519 = made("ssh-ed25519", comment="somebody@example.com")
LINE = ED25519.export_public_key().decode()
RSA_3072 = made("ssh-rsa", key_size=3072)


class TestOurs:
    def test_is_an_ed25519_pair_that_can_be_read_again(self):
        key = keys.generate_client_key()

        assert key.public.kind == "ssh-ed25519"
        assert key.public.text.startswith("ssh-ed25519 AAAA")
        assert key.private.startswith(b"-----BEGIN OPENSSH PRIVATE KEY-----")
        assert keys.read_client_key(key.private) == key

    def test_is_another_one_each_time(self):
        assert keys.generate_client_key().private != keys.generate_client_key().private

    def test_is_left_out_of_what_is_shown(self):
        key = keys.generate_client_key()

        assert "PRIVATE" not in repr(key)
        assert key.public.fingerprint in repr(key)

    def test_may_be_rsa_of_3072_bits(self):
        key = keys.read_client_key(RSA_3072.export_private_key())

        assert (key.public.kind, key.public.bits) == ("ssh-rsa", 3072)

    @pytest.mark.parametrize(
        ("private", "reason"),
        [
            (made("ssh-rsa", key_size=2048).export_private_key(), "too_short"),
            (made("ecdsa-sha2-nistp256").export_private_key(), "kind_not_allowed"),
            (RSA_3072.export_private_key("pkcs8-pem", passphrase="secret"), "has_passphrase"),
            (b"", "not_a_key"),
            (b"\x00\xff" * 100, "not_a_key"),
            (LINE.encode(), "not_a_key"),
        ],
        ids=["RSA of 2048", "ECDSA", "passphrase", "empty", "noise", "public key"],
    )
    def test_is_refused_by_name(self, private, reason):
        with pytest.raises(KeyRefused) as refused:
            keys.read_client_key(private)

        assert refused.value.reason == reason


class TestAHostKey:
    @pytest.mark.parametrize(
        "text",
        [
            LINE,
            LINE.replace(" somebody@example.com", ""),
            f"sftp.bank.example,192.0.2.7 {LINE}",
            f"[sftp.bank.example]:2222 {LINE}",
            f"|1|c2FsdA==|aGFzaA== {LINE}",
            f"# sftp.bank.example:22 SSH-2.0-OpenSSH_9.6\r\n\r\nsftp.bank.example {LINE}\r\n",
        ],
        ids=["key", "no comment", "hosts", "port", "hashed host", "ssh-keyscan"],
    )
    def test_is_read_from_what_a_bank_sends(self, text):
        key = keys.read_host_key(text)

        assert key.fingerprint == ED25519.get_fingerprint()
        assert key.text == " ".join(LINE.split()[:2])
        assert keys.read_host_key(key.text) == key

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            (made("ssh-rsa", key_size=2048).export_public_key().decode(), "too_short"),
            (made("ecdsa-sha2-nistp521").export_public_key().decode(), "kind_not_allowed"),
            (made("ssh-dss").export_public_key().decode(), "kind_not_allowed"),
            (made("ssh-ed448").export_public_key().decode(), "kind_not_allowed"),
            (f"{LINE}\n{RSA_3072.export_public_key().decode()}", "several_keys"),
            (ED25519.export_private_key().decode(), "private_key_given"),
            (LINE[:60], "not_a_key"),
            (LINE.replace("ssh-ed25519 ", "ssh-rsa "), "not_a_key"),
            ("", "not_a_key"),
            ("# only a comment", "not_a_key"),
            ("SHA256:0123456789abcdef", "not_a_key"),
            ("ssh-ed25519\x00 AAAA", "not_a_key"),
            (f"{LINE} {'x' * 40_000}", "not_a_key"),
        ],
        ids=[
            "RSA of 2048",
            "ECDSA",
            "DSA",
            "Ed448",
            "two keys",
            "private key",
            "cut",
            "kind of another",
            "empty",
            "comment",
            "fingerprint",
            "NUL",
            "too long",
        ],
    )
    def test_is_refused_by_name(self, text, reason):
        with pytest.raises(KeyRefused) as refused:
            keys.read_host_key(text)

        assert refused.value.reason == reason
