"""What the reader and the validator say of the lines of a file."""

from __future__ import annotations

from io import BytesIO

from networks.ach.nacha.faults import Fault, Scope
from networks.ach.nacha.reader import read
from networks.ach.nacha.records import EntryDetail
from networks.ach.nacha.validator.judge import Validator
from networks.ach.nacha.validator.terms import Terms
from tests.networks.ach.nacha import raw


def events(content):
    """Everything that reading yields, of lines or of bytes."""
    return list(read(BytesIO(content if isinstance(content, bytes) else raw.content(content))))


def items(content):
    return [event for event in events(content) if not isinstance(event, Fault)]


def entries(content):
    return [item for item in items(content) if isinstance(item.record, EntryDetail)]


def faults(content):
    """Line and code of each fault, notes left out."""
    return [
        (event.line, event.code)
        for event in events(content)
        if isinstance(event, Fault) and event.scope is not Scope.NOTE
    ]


def notes(content):
    return [
        (event.line, event.code)
        for event in events(content)
        if isinstance(event, Fault) and event.scope is Scope.NOTE
    ]


def judged(content, **terms):
    """Line and code of each fault of a file that we send."""
    data = content if isinstance(content, bytes) else raw.content(content)
    return [(fault.line, fault.code) for fault in Validator(BytesIO(data), Terms(**terms))]
