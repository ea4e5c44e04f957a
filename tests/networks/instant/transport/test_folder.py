"""Messages as files: whole or not there, never overwritten, gone once they are acknowledged."""

from __future__ import annotations

import os
import threading
from datetime import timedelta

import pytest

from networks.instant.transport import Delivery, Silent, Unavailable
from networks.instant.transport.folder import INBOUND, OUTBOUND, FolderTransport

NO_WAIT = timedelta()


@pytest.fixture
def line(tmp_path):
    return FolderTransport(tmp_path)


def arrive(tmp_path, name: str, content: bytes, *, at: int = 1) -> None:
    path = tmp_path / INBOUND / name
    path.write_bytes(content)
    os.utime(path, (at, at))


class TestSending:
    def test_puts_a_file_and_leaves_no_other(self, line, tmp_path):
        line.send(b"<M/>", name="M1")

        assert [(each.name, each.read_bytes()) for each in (tmp_path / OUTBOUND).iterdir()] == [
            ("M1.xml", b"<M/>")
        ]

    def test_a_repeat_overwrites_nothing(self, line, tmp_path):
        line.send(b"<M/>", name="M1")
        line.send(b"<Repeat/>", name="M1")

        assert [each.read_bytes() for each in (tmp_path / OUTBOUND).iterdir()] == [b"<M/>"]

    def test_a_repeat_of_what_was_fetched_is_there_again(self, line, tmp_path):
        line.send(b"<M/>", name="M1")
        (tmp_path / OUTBOUND / "M1.xml").unlink()
        line.send(b"<Repeat/>", name="M1")

        assert (tmp_path / OUTBOUND / "M1.xml").read_bytes() == b"<Repeat/>"

    def test_a_folder_that_is_gone_is_silence(self, line, tmp_path):
        (tmp_path / OUTBOUND).rmdir()

        with pytest.raises(Silent, match="no_such_file_or_directory"):
            line.send(b"<M/>", name="M1")

    @pytest.mark.parametrize("name", ["", "../M1", "a/b", ".M1", "M" * 121, "M\n"])
    def test_a_name_that_leads_elsewhere(self, line, tmp_path, name):
        with pytest.raises(ValueError, match="no name"):
            line.send(b"<M/>", name=name)

        assert not list((tmp_path / OUTBOUND).iterdir())


class TestReceiving:
    def test_gives_the_oldest_first(self, line, tmp_path):
        arrive(tmp_path, "b.xml", b"<First/>", at=1)
        arrive(tmp_path, "a.xml", b"<Second/>", at=2)
        arrive(tmp_path, "c.xml", b"<Third/>", at=3)

        assert line.receive(limit=2, wait=NO_WAIT) == [
            Delivery("b.xml", b"<First/>"),
            Delivery("a.xml", b"<Second/>"),
        ]

    def test_gives_it_again_until_it_is_acknowledged(self, line, tmp_path):
        arrive(tmp_path, "a.xml", b"<A/>")
        assert len(line.receive(limit=9, wait=NO_WAIT)) == 1

        line.acknowledge(["a.xml", "a.xml", "unknown.xml"])

        assert line.receive(limit=9, wait=NO_WAIT) == []

    def test_passes_over_what_is_not_there_yet_and_what_is_no_file(self, line, tmp_path):
        arrive(tmp_path, ".a.xml", b"<A/>")
        (tmp_path / INBOUND / "folder").mkdir()
        (tmp_path / "secret").write_bytes(b"secret")
        (tmp_path / INBOUND / "link.xml").symlink_to(tmp_path / "secret")

        assert line.receive(limit=9, wait=NO_WAIT) == []

    def test_waits_for_the_first_one(self, line, tmp_path):
        later = threading.Timer(0.2, arrive, args=(tmp_path, "a.xml", b"<A/>"))
        later.start()

        assert len(line.receive(limit=9, wait=timedelta(seconds=10))) == 1
        later.join()

    def test_cuts_what_is_too_large_where_that_is_still_seen(self, line, tmp_path):
        arrive(tmp_path, "a.xml", b"x" * (2 << 20))

        (came,) = line.receive(limit=9, wait=NO_WAIT)

        assert len(came.content) == (1 << 20) + 1

    def test_a_folder_that_is_gone(self, line, tmp_path):
        (tmp_path / INBOUND).rmdir()

        with pytest.raises(Unavailable):
            line.receive(limit=9, wait=NO_WAIT)

    def test_an_id_never_leads_elsewhere(self, line, tmp_path):
        (tmp_path / "secret").write_bytes(b"secret")

        line.acknowledge(["../secret"])

        assert (tmp_path / "secret").exists()
