"""Keeps a file from a bank as it came, before anybody reads it: encrypted, once per content.

What is stored is not lost, so the copy at the bank may be removed then. The same bytes again, under
any name, change nothing. Only what a person uploaded does not stand in for the bank's own file:
that is stored beside it.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import IO, NamedTuple

import structlog
from django.db import IntegrityError, transaction
from django.db.models import Q

from common import crypto, ids
from common.database.constraints import violated
from networks.ach import long_work
from networks.ach.models import InFile, InFileChunk
from networks.ach.models.inbound import InFolder
from networks.ach.sftp import names
from networks.ach.states import InFileStatus

log = structlog.get_logger(__name__)

SIZE_MAX = 200 * 1024 * 1024
CHUNK_BYTES = 256 * 1024
_IN_MEMORY = 8 * 1024 * 1024
_ROWS_TOGETHER = 16


class NotStorable(Exception):
    """A file that is not taken and stays where it is. `code` is stable, the words for people."""

    is_passing = False

    def __init__(self, code: str, words: str) -> None:
        super().__init__(words)
        self.code = code


class Stored(NamedTuple):
    """A file that is here. `is_new` is false if the same bytes had come before."""

    file: InFile
    is_new: bool


def check_name(name: str) -> None:
    """Raises NotStorable for a name of a file that the client would not touch either."""
    if not names.is_usable(name):
        raise NotStorable("file_name_invalid", "The name has characters that could do harm.")


def store(
    *,
    rail_id: str,
    folder: InFolder,
    name: str,
    content: Iterable[bytes],
    uploaded_by: str = "",
    by_command: bool = False,
    now: datetime,
) -> Stored:
    """Keep a file that a bank put there, or that a person uploads. An upload waits for a second
    person then, unless it comes `by_command`.

    `content` is consumed outside any transaction, from `now` on for as long as it takes: the file
    is dated when it is here (decision 0151). Raises NotStorable, and whatever `content` does.
    """
    check_name(name)
    clock = long_work.clock_from(now)
    file_id = ids.new("ifl")
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as sealed:
        size, sha256, count = _seal(content, file_id, sealed)
        if not size:
            raise NotStorable("file_empty", "The file is empty.")
        here = clock()
        waits = bool(uploaded_by) and not by_command
        file = InFile(
            id=file_id,
            rail_id=rail_id,
            folder=folder,
            name=name,
            size=size,
            sha256=sha256,
            chunk_count=count,
            uploaded_by=uploaded_by,
            by_command=by_command,
            status=InFileStatus.WAITING if waits else InFileStatus.STORED,
            received_at=here,
            next_attempt_at=None if waits else here,
        )
        sealed.seek(0)
        return _insert(file, sealed)


def content(file: InFile) -> Iterator[bytes]:
    """The bytes of a stored file, piece by piece. Raises common.crypto.Undecryptable."""
    for number in range(file.chunk_count):
        chunk = InFileChunk.objects.get(file=file, number=number)
        text = crypto.decrypt(chunk.content_token, context=chunk.encryption_context)
        yield text.encode("latin-1")


class Reader:
    """A stored file, opened for reading. Raises common.crypto.Undecryptable."""

    def __init__(self, file: InFile) -> None:
        self._pieces = content(file)
        self._rest = b""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes, none at the end."""
        if not self._rest:
            self._rest = next(self._pieces, b"")
        taken, self._rest = self._rest[:size], self._rest[size:]
        return taken


def _seal(content: Iterable[bytes], file_id: str, into: IO[bytes]) -> tuple[int, str, int]:
    """Write a token for each piece of the content, one a line; gives size, digest and how many.

    Only tokens reach the disk.
    """
    digest = hashlib.sha256()
    size = count = 0
    for piece in _pieces(content):
        size += len(piece)
        digest.update(piece)
        context = InFileChunk.context_of(file_id, count)
        into.write(crypto.encrypt(piece.decode("latin-1"), context=context).encode() + b"\n")
        count += 1
    return size, digest.hexdigest(), count


def _pieces(content: Iterable[bytes]) -> Iterator[bytes]:
    """The content in pieces of one length. Raises NotStorable where it is too long."""
    rest = bytearray()
    size = 0
    for part in content:
        size += len(part)
        if size > SIZE_MAX:
            raise NotStorable("file_too_large", f"A file has at most {SIZE_MAX >> 20} MiB.")
        rest += part
        while len(rest) >= CHUNK_BYTES:
            yield bytes(rest[:CHUNK_BYTES])
            del rest[:CHUNK_BYTES]
    if rest:
        yield bytes(rest)


def _same(file: InFile) -> InFile | None:
    """The row that these bytes have already. The bank's own file is one of them also for an upload,
    which may be there beside it; an upload that people turned down is none."""
    rows = InFile.objects.filter(rail_id=file.rail_id, sha256=file.sha256)
    if not file.uploaded_by:
        return rows.filter(uploaded_by="").first()
    live = rows.filter(Q(uploaded_by="") | ~Q(status=InFileStatus.RESOLVED))
    return live.order_by("uploaded_by").first()


def _insert(file: InFile, sealed: IO[bytes]) -> Stored:
    if file.uploaded_by and (first := _same(file)):
        return _again(first)
    try:
        with transaction.atomic():
            file.save(force_insert=True)
            rows: list[InFileChunk] = []
            for number, token in enumerate(sealed):
                rows.append(
                    InFileChunk(file=file, number=number, content_token=token.decode().rstrip())
                )
                if len(rows) == _ROWS_TOGETHER:
                    InFileChunk.objects.bulk_create(rows)
                    rows = []
            InFileChunk.objects.bulk_create(rows)
    except IntegrityError as error:
        is_known = violated(error) in {"one_in_file_per_content", "one_upload_per_content"}
        first = _same(file) if is_known else None
        if first is None:
            raise
        return _again(first)
    log.info("ach_file_stored", file_id=file.pk, rail=file.rail_id, folder=file.folder)
    return Stored(file, is_new=True)


def _again(first: InFile) -> Stored:
    log.info("ach_file_came_again", file_id=first.pk, rail=first.rail_id)
    return Stored(first, is_new=False)
