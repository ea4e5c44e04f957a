"""XML into the elements of a message, a part at a time, and nothing that a statement does not need.

A document type, and with it every entity, is refused before the parser sees it. Nesting, the
elements of one entry and the size of the file are bounded, and nothing is fetched from anywhere. At
most one entry, and one payment of it, is in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import Any, NamedTuple

from lxml import etree

from networks.bank_statements.camt.facts import CURRENCY_OF, Facts
from networks.bank_statements.source import Chunks

DEPTH_MAX = 50
ELEMENTS_MAX = 10_000  # of one part
CHARACTERS_MAX = 1 << 20
PARTS_MAX = 100_000  # beside entries
_DOCTYPE = b"<!DOCTYPE"
_DECLARED = re.compile(rb"""<\?xml[^>]*?encoding\s*=\s*["']([^"'>]*)""")
_ENCODINGS = frozenset((b"utf-8", b"us-ascii", b"ascii"))
_NAMESPACE = re.compile(
    r"\{(urn:iso:std:iso:20022:tech:xsd:camt[.](05[234])[.]001[.]([0-9]{2}))\}Document", re.ASCII
)
_VERSIONS = range(2, 14)
_OF_MESSAGE = {
    "052": ("BkToCstmrAcctRpt", "Rpt"),
    "053": ("BkToCstmrStmt", "Stmt"),
    "054": ("BkToCstmrDbtCdtNtfctn", "Ntfctn"),
}

_ACCOUNT_NUMBERS = (".//{*}IBAN", ".//{*}Othr/{*}Id")
_SHOWN_CHARACTERS = 4  # of an account number

Element = Any  # lxml has no types


class Broken(Exception):
    """The file is no message that can be read any further. `code` names the fault."""

    def __init__(self, code: str, where: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.where = where


class Moment(Enum):
    """What was reached. Whatever is whole is forgotten once the next step is asked for."""

    BEGIN = auto()  # the beginning of a statement
    ENTRY = auto()  # the beginning of an entry
    DETAIL = auto()  # a whole TxDtls of an entry
    DETAILS = auto()  # a whole NtryDtls, without its TxDtls
    PART = auto()  # a whole child of the statement, or of the message: its group header
    END = auto()  # the end of a statement


# Where the levels below a statement are: Document is the first, the statement the third.
_STATEMENT, _PART, _DETAILS, _DETAIL = 3, 4, 5, 6
_WITHIN: dict[int, tuple[str, ...]] = {
    _STATEMENT: (),
    _PART: ("Ntry",),
    _DETAILS: ("Ntry", "NtryDtls"),
    _DETAIL: ("Ntry", "NtryDtls", "TxDtls"),
}


class Step(NamedTuple):
    """What was reached, the name of its element, and what it says if it is whole."""

    moment: Moment
    name: str
    facts: Facts


def _parser() -> Any:
    """A parser that is fed, and that fetches and expands nothing."""
    return etree.XMLPullParser(
        events=("start", "end"),
        encoding="utf-8",  # whatever the file declares
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )


class Document:
    """The message of a file. `format` is its name (`camt.053.001.08`), known once steps come."""

    def __init__(self, chunks: Chunks) -> None:
        self.format = ""
        self.message = ""  # 052, 053 or 054
        self._chunks = chunks
        self._parser = _parser()
        self._prefix = ""  # of every tag of the message: its namespace
        self._path: list[str] = []
        self._ways: list[str] = []  # to the elements of the path, from the part that they are in
        self._counts: list[int] = []  # of elements before them
        self._elements = 0  # of the part, in memory
        self._parts = 0
        self._facts = [Facts()]  # of the parts that are open, one in the other
        self._levels: dict[int, list[str]] = {}  # the paths of statements and of what is in them

    def steps(self) -> Iterator[Step]:
        """Raises Broken, and source.TooLarge."""
        _require_encoding(self._chunks.start)
        last = b""
        while chunk := self._chunks.read():
            if not self._prefix and _DOCTYPE in last + chunk:
                raise Broken("doctype_refused")
            last = chunk[-len(_DOCTYPE) :]
            self._feed(chunk)
            yield from self._reached()
        self._close()
        if self._path or not self._prefix:
            raise Broken("file_truncated")

    def _feed(self, chunk: bytes) -> None:
        try:
            self._parser.feed(chunk)
        except etree.XMLSyntaxError as error:
            raise _broken("xml_malformed", error) from None

    def _close(self) -> None:
        try:
            self._parser.close()
        except etree.XMLSyntaxError as error:
            # The parser has a code of its own for a text that is there but cannot be read.
            is_unread = error.code == etree.ErrorTypes.ERR_INTERNAL_ERROR
            raise _broken("xml_malformed" if is_unread else "file_truncated", error) from None

    def _reached(self) -> Iterator[Step]:
        for event, element in self._parser.read_events():
            if event == "start":
                step = self._start(element.tag)
                if step:
                    yield step
                continue
            step = self._end(element)
            if step:
                yield step
                self._forget(step.moment, element)

    def _start(self, tag: str) -> Step | None:
        path = self._path
        if not path:
            self._identify(tag)
        path.append(tag)
        self._counts.append(self._elements)
        self._elements += 1
        depth = len(path)
        if depth > DEPTH_MAX:
            raise Broken("xml_too_deep")
        if self._elements > ELEMENTS_MAX:
            raise Broken("xml_too_wide")
        if self._is_part(depth):
            self._ways.append("")
            return self._start_of_part(depth)
        name = tag.removeprefix(self._prefix)
        above = self._ways[-1]
        self._ways.append(f"{above}/{name}" if above else name)
        return None

    def _is_part(self, depth: int) -> bool:
        """Whether the element that begins stands by itself, or within another part."""
        if depth == _PART:
            return self._path[:_STATEMENT] == self._levels[_STATEMENT]
        return depth < _PART or self._path == self._levels.get(depth)

    def _start_of_part(self, depth: int) -> Step | None:
        facts = Facts()
        self._facts.append(facts)
        if depth == _STATEMENT and self._path == self._levels[depth]:
            return Step(Moment.BEGIN, "", facts)
        if depth == _PART and self._path == self._levels[depth]:
            return Step(Moment.ENTRY, "", facts)
        return None

    def _end(self, element: Element) -> Step | None:
        way = self._ways.pop()
        text = element.text
        if text and (text := text.strip()):
            self._add(way, text, element)
        before = self._counts.pop()
        if way:
            self._path.pop()
            return None
        moment = self._moment()
        tag = self._path.pop()
        facts = self._facts.pop()
        if moment is None:
            return None
        self._elements = before
        if moment is Moment.PART and not self._is_entry(tag):
            self._parts += 1
            if self._parts > PARTS_MAX:
                raise Broken("xml_too_wide")
        return Step(moment, tag.removeprefix(self._prefix), facts)

    def _is_entry(self, tag: str) -> bool:
        return tag == self._levels[_PART][-1]

    def _add(self, way: str, text: str, element: Element) -> None:
        facts = self._facts[-1]
        facts.add(way, text)
        if facts.size > CHARACTERS_MAX:
            raise Broken("xml_too_wide")
        currency = element.get("Ccy")
        if currency:
            facts.add(way + CURRENCY_OF, currency)

    def _moment(self) -> Moment | None:
        """What the part was that ends here, or None for the message and the document."""
        path = self._path
        depth = len(path)
        if depth in (_DETAIL, _DETAILS):
            return Moment.DETAIL if depth == _DETAIL else Moment.DETAILS
        if depth == _PART:
            return Moment.PART
        if depth == _STATEMENT:
            return Moment.END if path == self._levels[_STATEMENT] else Moment.PART
        return None

    def _forget(self, moment: Moment, element: Element) -> None:
        """Empty what was read, and drop the empty elements before it: of details only the one
        before, because the rest of their entry is still to be read."""
        element.clear()
        if moment in (Moment.DETAIL, Moment.DETAILS):
            former = element.getprevious()
            if former is not None and former.tag == element.tag:
                element.getparent().remove(former)
            else:
                self._elements += 1
            return
        while element.getprevious() is not None:
            del element.getparent()[0]

    def _identify(self, root: str) -> None:
        found = _NAMESPACE.fullmatch(root)
        if not found or int(found[3]) not in _VERSIONS:
            raise Broken("message_unsupported")
        self.message = found[2]
        self.format = found[1].rpartition(":")[2]
        self._prefix = f"{{{found[1]}}}"
        above = ("Document", *_OF_MESSAGE[self.message])
        for level, names in _WITHIN.items():
            self._levels[level] = [self._prefix + name for name in (*above, *names)]


def _require_encoding(start: bytes) -> None:
    declared = _DECLARED.match(start)
    if b"\0" in start[:4] or (declared and declared[1].lower() not in _ENCODINGS):
        raise Broken("encoding_unsupported")


def _broken(code: str, error: etree.XMLSyntaxError) -> Broken:
    line, column = error.position
    return Broken(code, f"line {line}, column {column}")


def entry_text(chunks: Chunks, position: int) -> str:
    """The entry at a position of a message that was read without a fault, as XML; empty where there
    is none. Of account numbers the last four characters are left."""
    parser, depth, entries = _parser(), 0, 0
    while chunk := chunks.read():
        parser.feed(chunk)
        for event, element in parser.read_events():
            if event == "start":
                depth += 1
                continue
            depth -= 1
            if depth != _STATEMENT or etree.QName(element).localname != _WITHIN[_PART][-1]:
                continue
            entries += 1
            if entries == position:
                return _masked(element)
            element.clear()
    return ""


def _masked(entry: Element) -> str:
    for path in _ACCOUNT_NUMBERS:
        for number in entry.iterfind(path):
            number.text = f"··{(number.text or '').strip()[-_SHOWN_CHARACTERS:]}"
    etree.indent(entry)
    return str(etree.tostring(entry, encoding="unicode", with_tail=False))
