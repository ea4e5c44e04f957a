"""A real SMTP server on loopback whose answers a test chooses."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message
from typing import Any

from aiosmtpd.controller import Controller

from tests.servers import free_port


class Mailbox:
    """Takes messages, unless `refuses` says what to answer to a recipient instead."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.refuses: dict[str, str] = {}

    async def handle_RCPT(
        self, _server: Any, _session: Any, envelope: Any, address: str, _options: list[str]
    ) -> str:
        if address in self.refuses:
            return self.refuses[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
        self.messages.append(message_from_bytes(envelope.content))
        return "250 OK"

    @property
    def recipients(self) -> list[str]:
        return [message["To"] for message in self.messages]


@contextlib.contextmanager
def running(settings: Any) -> Iterator[Mailbox]:
    """The server, with the settings pointing at it."""
    mailbox = Mailbox()
    controller = Controller(mailbox, hostname="127.0.0.1", port=free_port())
    controller.start()
    try:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST = "127.0.0.1"
        settings.EMAIL_PORT = controller.port
        settings.EMAIL_TIMEOUT = 0.3
        yield mailbox
    finally:
        controller.stop()
