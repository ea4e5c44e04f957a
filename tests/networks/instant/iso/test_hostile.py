"""Content from somebody who wants to harm us: refused by name, in no time, and never otherwise."""

from __future__ import annotations

import gzip
import random
import time
from contextlib import suppress
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from networks.instant.iso.documents import canonical, parsed
from networks.instant.iso.faults import Unreadable
from networks.instant.iso.profiles import FEDNOW, PROFILES, RTP
from networks.instant.iso.reader import Read, read
from networks.instant.iso.writer import duplicate
from tests.networks.instant.iso.messages import EVERY, came, message, written

GOOD = written(message("pacs.008", RTP), RTP)
SECRET = "SECRET-OF-A-FILE"
_LAUGHS = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret"
    path.write_text(SECRET)
    return path


def in_a_name(before: str, name: str) -> bytes:
    """The good message, behind something, with another name of the debtor."""
    return before.encode() + GOOD.replace(b"Ballast for Acme Inc", name.encode())


class TestDocumentTypes:
    @pytest.mark.parametrize(
        "content",
        [
            in_a_name(f'<!DOCTYPE m [<!ENTITY l0 "lol">{_LAUGHS}]>', "&l9;"),
            in_a_name(f'<!DOCTYPE m [<!ENTITY a "{"a" * 100_000}">]>', "&a;" * 1_000),
            in_a_name("<!DOCTYPE Message>", "x"),
            in_a_name('<!DOCTYPE m SYSTEM "http://127.0.0.1:1/m.dtd">', "x"),
            in_a_name('<?xml version="1.0"?>\n\n<!-- --><!DOCTYPE m [<!ENTITY % p "">%p;]>', "x"),
        ],
        ids=["billion_laughs", "quadratic", "empty", "external", "parameter"],
    )
    def test_are_refused(self, content):
        started = time.monotonic()

        assert _fault(content) == "doctype_refused"
        assert time.monotonic() - started < 0.1

    def test_read_no_file(self, secret):
        content = in_a_name(f'<!DOCTYPE m [<!ENTITY f SYSTEM "{secret}">]>', "&f;")

        assert _fault(content) == "doctype_refused"

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "utf-7", "cp037"])
    def test_do_not_hide_in_another_encoding(self, encoding):
        text = (
            f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE m [<!ENTITY a "b">]><m>&a;</m>'
        )

        assert _fault(text.encode(encoding)) in ("encoding_unsupported", "xml_malformed")

    def test_do_not_hide_behind_a_declared_encoding(self):
        content = GOOD.replace(b"<Message", b'<?xml version="1.0" encoding="utf-7"?><Message', 1)

        assert _fault(content) == "encoding_unsupported"


class TestOtherTricks:
    def test_an_include_fetches_nothing(self, secret):
        include = (
            f'<i:include xmlns:i="http://www.w3.org/2001/XInclude" href="{secret}" parse="text"/>'
        )
        content = in_a_name("", include)

        assert _fault(content) == "element_unexpected"

    def test_a_stylesheet_is_not_looked_at(self, secret):
        content = in_a_name(f'<?xml-stylesheet type="text/xsl" href="{secret}"?>', "Ann")

        assert came(content, RTP).debtor.name == "Ann"

    def test_a_schema_location_is_not_looked_at(self, secret):
        content = GOOD.replace(
            b"<Message ",
            b'<Message xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
            b'xsi:schemaLocation="urn:tch ' + str(secret).encode() + b'" ',
        )

        assert came(content, RTP) == message("pacs.008", RTP)

    def test_a_type_of_the_sender_s_own_choice_is_none(self):
        content = GOOD.replace(
            b"<m:Nm>",
            b'<m:Nm xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="m:Whatever">',
        )

        assert _fault(content) == "element_unexpected"

    def test_a_comment_does_not_cut_a_value(self):
        content = GOOD.replace(b">10000000.00<", b">10000000<!-- .00 -->.00<")

        assert came(content, RTP).amount == 1_000_000_000

    def test_what_stands_behind_an_element_in_a_value_is_seen(self):
        content = GOOD.replace(b">10000000.00<", b">1<x/>0000000.00<")

        assert _fault(content) == "element_unexpected"

    def test_processing_instructions_and_comments_are_no_part_of_the_canonical_form(self):
        content = GOOD.replace(b"<AppHdr>", b"<?run it?><!-- x --><AppHdr>")

        assert canonical(content) == GOOD


class TestBounds:
    def test_of_size(self):
        assert _fault(GOOD + b" " * (1 << 20)) == "too_large"

    def test_of_size_is_1_mib(self):
        content = GOOD + b" " * ((1 << 20) - len(GOOD))

        assert came(content, RTP) == message("pacs.008", RTP)

    @pytest.mark.parametrize(
        ("depth", "fault"), [(51, "xml_too_deep"), (200, "xml_too_deep"), (5_000, "xml_malformed")]
    )
    def test_of_depth(self, depth, fault):
        assert _fault(b"<a>" * depth + b"</a>" * depth) == fault

    def test_of_depth_is_50(self):
        assert _fault(b"<a>" * 50 + b"</a>" * 50) == "envelope_unknown"

    @pytest.mark.parametrize(
        "content",
        [
            b"<a>" + b"<b/>" * 200_000 + b"</a>",
            b"<a " + b" ".join(b'a%d=""' % n for n in range(80_000)) + b"/>",
            b"<a>" + b"x" * 1_000_000 + b"</a>",
            b"<a " + b" ".join(b'xmlns:n%d="urn:%d"' % (n, n) for n in range(30_000)) + b"/>",
        ],
        ids=["elements", "attributes", "text", "namespaces"],
    )
    def test_of_time(self, content):
        started = time.monotonic()

        assert _fault(content) in ("envelope_unknown", "xml_malformed")
        assert time.monotonic() - started < 2


class TestNoise:
    """Whatever comes is read or refused; no other error is ever raised."""

    @given(st.binary(max_size=2_000))
    def test_any_bytes(self, content):
        assert _fault(content)

    @pytest.mark.parametrize(
        "content",
        [b"", b" ", b"\0", b"<", b"\xff\xfe", b"\xef\xbb\xbf", b"<a/>", b"{}", gzip.compress(GOOD)],
    )
    def test_no_xml(self, content):
        assert _fault(content)

    @pytest.mark.parametrize(("name", "kind"), EVERY)
    def test_a_message_that_lost_or_changed_bytes(self, name, kind):
        profile = PROFILES[name]
        content = written(message(kind, profile), profile)
        chance = random.Random(f"{name}{kind}")

        for _ in range(300):
            place = chance.randrange(len(content))
            cut = content[:place]
            changed = bytearray(content)
            for _ in range(chance.randrange(1, 4)):
                changed[chance.randrange(len(content))] = chance.randrange(256)
            for bent in (cut, bytes(changed), cut + content[place + chance.randrange(1, 60) :]):
                _read_or_refused(bent, profile)

    @pytest.mark.parametrize(("name", "kind"), EVERY)
    def test_a_message_whose_texts_say_anything(self, name, kind):
        profile = PROFILES[name]
        content = written(message(kind, profile), profile)
        texts = (
            *(b"NaN", b"-0", b"1e400", b"9" * 5_000, b"0.001", b"", b" ", b"\xc2\xa0", b"true"),
            *(b"0000-00-00", b"9999-12-31", b"9999-12-31T23:59:59", b"0001-01-01T00:00:00-05:00"),
            *(b"2026-11-28T24:00:00", b"2026-11-28T21:00:60", b"2026-11-28T21:00:00+99:99"),
            *(b"&#x10FFFF;", b"&#1;", b"&amp;lt;", b"]]&gt;", b"\xf0\x9f\x92\xb8"),
        )
        places = [at for at in range(len(content) - 1) if content[at : at + 1] == b">"]

        for place in places:
            end = content.index(b"<", place)
            if end > place + 1:
                for text in texts:
                    _read_or_refused(content[: place + 1] + text + content[end:], profile)

    def test_a_mark_of_a_duplicate_is_put_into_no_noise(self):
        for content in (b"", b"<a/>", GOOD.replace(b"CreDt>", b"CreDtX>")):
            with pytest.raises(Unreadable):
                duplicate(content, RTP)


def _read_or_refused(content: bytes, profile) -> None:
    with suppress(Unreadable):
        found = read(content, profile)
        assert isinstance(found, Read)
        assert found.header.created_at.tzinfo is UTC


def _fault(content: bytes) -> str:
    """Of both networks, which is the same for what is no message of either."""
    with pytest.raises(Unreadable) as found:
        read(content, RTP)
    assert SECRET not in str(found.value)
    if b"urn:tch" not in content:
        with pytest.raises(Unreadable):
            read(content, FEDNOW)
    return found.value.fault


def test_a_parsed_message_is_forgotten():
    """Nothing of one message is left in the next one's parser."""
    with pytest.raises(Unreadable):
        parsed(b"<a><b></a>")

    assert parsed(b"<a/>").tag == "a"
