from __future__ import annotations

import hashlib
import time
from datetime import timedelta

import pytest

from networks.ach.inbound import reading, storing
from networks.ach.inbound.storing import NotStorable, Reader, store
from networks.ach.models import InFile, InFileChunk
from networks.ach.models.inbound import InFolder
from tests.networks.ach.inbound.builders import NOW, RAIL, make_rail

pytestmark = pytest.mark.django_db


def keep(*content, name="returns.ach", folder=InFolder.INBOUND, rail=RAIL):
    return store(rail_id=rail, folder=folder, name=name, content=content, now=NOW)


class TestAFile:
    def test_is_kept_as_it_came_and_encrypted(self, rail):
        data = bytes(range(256)) * 5000

        file = keep(data[:1000], data[1000:]).file

        assert b"".join(storing.content(file)) == data
        assert (file.size, file.sha256) == (len(data), hashlib.sha256(data).hexdigest())
        assert (file.status, file.next_attempt_at, file.received_at) == ("stored", NOW, NOW)
        tokens = InFileChunk.objects.values_list("content_token", flat=True)
        assert len(tokens) == file.chunk_count == 5
        assert not any(data[:64].decode("latin-1") in token for token in tokens)

    def test_is_dated_when_all_of_it_is_here(self, rail):
        """Or a seal would already cover the time that it says."""

        def slowly():
            yield b"half"
            time.sleep(1.1)
            yield b"of it"

        file = store(
            rail_id=RAIL, folder=InFolder.INBOUND, name="b.ach", content=slowly(), now=NOW
        ).file
        assert file.received_at >= NOW + timedelta(seconds=1)

    def test_is_read_in_small_pieces(self, rail):
        data = b"0123456789" * 100_000
        source = Reader(keep(data).file)

        assert source.read(7) == b"0123456"
        rest = b""
        while piece := source.read(300_000):
            assert len(piece) <= 300_000
            rest += piece
        assert rest == data[7:]

    def test_that_comes_again_changes_nothing(self, rail):
        first = keep(b"one")

        again = keep(b"o", b"ne", name="again_returns.ach", folder=InFolder.ACK)

        assert (first.is_new, again.is_new) == (True, False)
        assert again.file == first.file
        assert InFile.objects.get().name == "returns.ach"
        assert InFileChunk.objects.count() == 1

    def test_with_the_name_of_another_is_another(self, rail):
        half, whole = keep(b"half"), keep(b"half, and the rest")

        assert half.is_new
        assert whole.is_new
        assert InFile.objects.count() == 2

    def test_of_another_rail_is_another(self, rail):
        make_rail("other")

        assert keep(b"one").is_new
        assert keep(b"one", rail="other").is_new

    def test_with_statements_waits_for_others_to_read_it(self, rail):
        file = keep(b"01,", folder=InFolder.STATEMENTS).file

        assert file.next_attempt_at == NOW
        assert reading.read_due(now=NOW) == 0


class TestAnUpload:
    def upload(self, content=b"one", **how):
        return store(
            rail_id=RAIL,
            folder=InFolder.STATEMENTS,
            name="a",
            content=[content],
            uploaded_by="usr_1",
            now=NOW,
            **how,
        )

    def test_says_who_it_is_from_and_waits(self, rail):
        file = self.upload().file

        assert (file.uploaded_by, file.status, file.next_attempt_at) == ("usr_1", "waiting", None)

    def test_by_command_is_due(self, rail):
        file = self.upload(by_command=True).file

        assert (file.by_command, file.status, file.next_attempt_at) == (True, "stored", NOW)

    def test_is_there_once(self, rail):
        first = self.upload().file

        assert self.upload() == (first, False)

    def test_of_what_the_bank_sent_is_known(self, rail):
        first = keep(b"one").file

        assert self.upload() == (first, False)

    def test_does_not_stand_in_for_the_file_of_the_bank(self, rail):
        upload = self.upload().file

        own = keep(b"one")

        assert own.is_new
        assert own.file.pk != upload.pk
        assert keep(b"one") == (own.file, False)


class TestWhatIsNotTaken:
    @pytest.mark.parametrize("name", ["RET 20261123.txt", "returns#1@bank.ach", "A(2).ach"])
    def test_may_have_any_name_that_the_client_reads(self, rail, name):
        assert keep(b"one", name=name).file.name == name

    @pytest.mark.parametrize(
        "name", ["", ".hidden", "../passwd", "a/b", "a\0b", "ä.ach", "a ", "a" * 201, "a\n"]
    )
    def test_has_no_name_of_ours(self, rail, name):
        with pytest.raises(NotStorable) as refusal:
            keep(b"one", name=name)

        assert refusal.value.code == "file_name_invalid"
        assert not InFile.objects.exists()

    def test_is_empty(self, rail):
        with pytest.raises(NotStorable) as refusal:
            keep(b"")

        assert refusal.value.code == "file_empty"

    def test_is_too_large_and_is_not_read_to_its_end(self, rail):
        pieces = iter([bytes(1 << 20)] * 4096)  # 4 GiB of zeros

        with pytest.raises(NotStorable) as refusal:
            store(rail_id=RAIL, folder=InFolder.INBOUND, name="a", content=pieces, now=NOW)

        assert refusal.value.code == "file_too_large"
        assert len(list(pieces)) >= 4096 - 201
        assert not InFile.objects.exists()
        assert not InFileChunk.objects.exists()

    def test_breaks_off(self, rail):
        def half():
            yield b"half"
            raise ConnectionError

        with pytest.raises(ConnectionError):
            store(rail_id=RAIL, folder=InFolder.INBOUND, name="a", content=half(), now=NOW)

        assert not InFile.objects.exists()
        assert not InFileChunk.objects.exists()
