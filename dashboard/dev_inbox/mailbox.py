"""Reads what Django's file e-mail backend wrote; development only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

# The backend ends each message with a line of dashes; a file holds one connection's messages.
_SEPARATOR = re.compile(rb"^-{79}\n", re.MULTILINE)
_LINK = re.compile(r"https?://[^\s<>\"']+")


@dataclass(frozen=True)
class Message:
    """One e-mail as a reader sees it."""

    id: str
    subject: str
    to: str
    sent_at: datetime
    text: str
    html: str

    @property
    def links(self) -> list[str]:
        """The addresses in the text part, each once, in order."""
        return list(dict.fromkeys(_LINK.findall(self.text)))


def messages(folder: str) -> list[Message]:
    """Every message in the folder, newest first."""
    found = [message for path in Path(folder).glob("*.log") for message in _read(path)]
    return sorted(found, key=lambda message: (message.sent_at, message.id), reverse=True)


def find(folder: str, message_id: str) -> Message | None:
    return next((found for found in messages(folder) if found.id == message_id), None)


def _read(path: Path) -> Iterator[Message]:
    for number, raw in enumerate(_SEPARATOR.split(path.read_bytes())):
        if raw.strip():
            parsed = message_from_bytes(raw, policy=policy.default)
            yield _message(f"{path.stem}-{number}", parsed)


def _message(message_id: str, parsed: EmailMessage) -> Message:
    return Message(
        id=message_id,
        subject=str(parsed["Subject"] or ""),
        to=str(parsed["To"] or ""),
        sent_at=_sent_at(parsed),
        text=_part(parsed, "plain"),
        html=_part(parsed, "html"),
    )


def _sent_at(parsed: EmailMessage) -> datetime:
    date = parsed["Date"]
    return date.datetime.astimezone(UTC) if date else datetime.min.replace(tzinfo=UTC)


def _part(parsed: EmailMessage, kind: str) -> str:
    part = parsed.get_body(preferencelist=(kind,))
    return str(part.get_content()) if part else ""
