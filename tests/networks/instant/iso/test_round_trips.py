"""What is written is read as it was meant, whatever it says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from networks.instant.iso.documents import canonical
from networks.instant.iso.profiles import FEDNOW, PROFILES, RTP
from networks.instant.iso.reader import Read, read
from networks.instant.iso.writer import duplicate, write
from tests.networks.instant.iso.messages import EVERY, NOW, header, message, written


@pytest.mark.parametrize(("name", "kind"), EVERY)
class TestEveryMessage:
    def test_is_read_as_it_was_written(self, name, kind):
        profile = PROFILES[name]
        sent = message(kind, profile)

        assert read(written(sent, profile), profile) == Read(header(sent, profile), sent)

    def test_has_one_canonical_form(self, name, kind):
        profile = PROFILES[name]
        content = written(message(kind, profile), profile)

        assert written(message(kind, profile), profile) == content
        assert canonical(content) == content
        assert canonical(b'<?xml version="1.0"?>\n' + content.replace(b"><", b">\n  <")) == content

    def test_may_be_marked_as_a_duplicate_and_nothing_else_changes(self, name, kind):
        profile = PROFILES[name]
        sent = message(kind, profile)
        content = written(sent, profile)

        marked = duplicate(content, profile)

        assert read(marked, profile) == Read(
            replace(header(sent, profile), is_duplicate=True), sent
        )
        assert duplicate(marked, profile) == marked
        assert len(marked) > len(content)

    def test_is_no_message_of_the_other_network(self, name, kind):
        profile = PROFILES[name]
        other = FEDNOW if profile is RTP else RTP

        with pytest.raises(Exception, match="not in the network's envelope"):
            read(written(message(kind, profile), profile), other)


class TestWhatCannotBeWritten:
    @pytest.mark.parametrize("kind", ["pacs.004", "pacs.028"])
    def test_a_message_that_rtp_does_not_have(self, kind):
        sent = message(kind, FEDNOW)

        with pytest.raises(ValueError, match=f"rtp has no {kind}"):
            write(sent, header(sent, FEDNOW), RTP)

    @pytest.mark.parametrize(
        ("field", "value", "what"),
        [
            ("amount", 0, "positive"),
            ("amount", -1, "positive"),
            ("end_to_end_id", "", "end_to_end_id is missing"),
            ("end_to_end_id", "E" * 36, "35 characters"),
            ("end_to_end_id", "é", "ASCII"),
            ("created_at", None, "created_at is missing"),
            ("created_at", NOW.replace(tzinfo=None), "time zone"),
            ("remittance", "株式会社", "no letter"),
        ],
    )
    def test_a_value_that_does_not_fit(self, field, value, what):
        sent = replace(message("pacs.008", RTP), **{field: value})

        with pytest.raises(ValueError, match=what):
            write(sent, header(sent, RTP), RTP)

    def test_a_message_under_the_header_of_another(self):
        sent = message("pacs.008", RTP)

        with pytest.raises(ValueError, match="another message"):
            write(sent, replace(header(sent, RTP), message_id="M-2"), RTP)
