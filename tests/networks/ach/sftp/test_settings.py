"""Settings of a connection, and names of files that are touched."""

from __future__ import annotations

import pytest

from networks.ach.sftp import keys, names
from networks.ach.sftp.errors import BadName, KeyRefused, SettingsRefused
from networks.ach.sftp.settings import SftpSettings

HOST_KEYS = tuple(keys.generate_client_key().public.text for _ in range(3))
OURS = keys.generate_client_key()


def settings(**changes):
    agreed = {
        "rail": "first",
        "host": "sftp.bank.example",
        "user": "ballast",
        "host_keys": HOST_KEYS[:1],
        "private_key": OURS.private,
    }
    return SftpSettings(**{**agreed, **changes})


class TestSettings:
    def test_hold_a_present_and_a_next_host_key(self):
        assert settings(host_keys=HOST_KEYS[:2]).host_keys == HOST_KEYS[:2]

    def test_have_the_time_outs_of_the_rail(self):
        assert (settings().connect_seconds, settings().operation_seconds) == (10, 60)

    def test_show_no_private_key(self):
        assert "PRIVATE" not in repr(settings())

    @pytest.mark.parametrize("folder", ["outbound", "/to/bank", "To Bank/ACH.in", "/", "."])
    def test_take_a_folder(self, folder):
        assert settings(outbound=folder).outbound == folder

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("host", ""),
            ("host", "-oProxyCommand=touch"),
            ("host", "bank example"),
            ("host", "bank\n"),
            ("port", 0),
            ("port", 65536),
            ("user", ""),
            ("user", "a b"),
            ("user", "a\x00"),
            ("host_keys", ()),
            ("host_keys", HOST_KEYS),
            ("host_keys", (HOST_KEYS[0], f"bank.example {HOST_KEYS[0]} comment")),
            ("outbound", ""),
            ("ack", "../keys"),
            ("inbound", "in//bound"),
            ("statements", "a/../b"),
            ("archive", "archive/"),
            ("archive", "a" * 256),
            ("temporary_suffix", "tmp"),
            ("temporary_suffix", "./tmp"),
            ("temporary_suffix", ""),
            ("connect_seconds", 0),
            ("operation_seconds", 601),
        ],
    )
    def test_refuse_by_field(self, field, value):
        with pytest.raises(SettingsRefused) as refused:
            settings(**{field: value})

        assert refused.value.field == field

    @pytest.mark.parametrize("field", ["host_keys", "private_key"])
    def test_refuse_what_is_no_key(self, field):
        with pytest.raises(KeyRefused):
            settings(**{field: {"host_keys": ("no key",), "private_key": b"no key"}[field]})


class TestNames:
    @pytest.mark.parametrize(
        "name",
        [
            "F1.ach",
            "returns_20351203_083000_0001.ach",
            "ACH RETURNS (2).txt",
            "a",
            "a" * 200,
        ],
    )
    def test_are_touched(self, name):
        assert names.is_usable(name)
        assert names.path("in", name) == f"in/{name}".encode()

    @pytest.mark.parametrize(
        "name",
        [
            *("", ".", "..", ".x", "a/b", "../a", "a\\b", "a\n", "a\x00b", "a\x1b[2J", " a", "a "),
            *("a" * 201, "\u00e9", "a\u202etxt", "a*", "a?b", "a'b", 'a"b', "a:b", "a|b", "a<b"),
            *("a`b", "a;b"),
        ],
    )
    def test_are_not_touched(self, name):
        assert not names.is_usable(name)
        with pytest.raises(BadName) as refused:
            names.path("in", name)

        assert refused.value.detail.isprintable()

    def test_of_the_root_are_below_it(self):
        assert names.path("/", "a") == b"/a"

    @pytest.mark.parametrize(
        ("raw", "shown"),
        [
            (b"a/b", "a/b"),
            (b"a\x1b[2Jb\n", "a\\x1b[2Jb\\x0a"),
            (b"\xff\xc3\xa9", "\\xff\\xc3\\xa9"),
            (b"x" * 4096, "x" * 80 + "… (4096 bytes)"),
        ],
    )
    def test_are_shown_in_print(self, raw, shown):
        assert names.shown(raw) == shown

    def test_are_temporary_of_one_file_only(self):
        made = {names.temporary("A.ach", ".tmp") for _ in range(100)}

        assert len(made) == 100
        assert all(names.is_temporary_of(each, "A.ach", ".tmp") for each in made)
        assert not any(names.is_temporary_of(each, "AXach", ".tmp") for each in made)
        assert not names.is_temporary_of("A.ach.tmp", "A.ach", ".tmp")
        assert not names.is_temporary_of("A.ach", "A.ach", ".tmp")
