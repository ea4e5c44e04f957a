"""The very record behind a line, as the file has it, for whoever wants to see it.

Only for files that were read without a fault: nothing is judged here.
"""

from __future__ import annotations

from networks.bank_statements.bai2 import framing
from networks.bank_statements.camt import document
from networks.bank_statements.source import Chunks, Source

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def record(source: Source, position: int) -> str:
    """The record of BAI2 with its continuations, or the entry of camt, at the position of a line;
    empty where there is none. Of account numbers in an entry the last four characters are left."""
    chunks = Chunks(source)
    chunks.skip(_BYTE_ORDER_MARK)
    if chunks.start.lstrip().startswith(b"<"):
        return document.entry_text(chunks, position)
    return _record_of_bai2(chunks, position)


def _record_of_bai2(chunks: Chunks, position: int) -> str:
    found: list[str] = []
    for number, text in framing.texts(chunks):
        if number == position or (found and text.startswith(framing.CONTINUATION)):
            found.append(text)
        elif found:
            break
    return "\n".join(found)
