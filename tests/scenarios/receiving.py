"""A receiver of the audit log, as a process of its own that can be killed.

`python -m tests.scenarios.receiving https|syslog PORT PEM FILE`: each line goes into FILE and to
the disk before the sender is told that it is there.
"""

from __future__ import annotations

import os
import socket
import ssl
import sys
from contextlib import suppress

SECONDS = 10.0


def main(kind: str, port: int, pem: str, file: str) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    with socket.create_server(("127.0.0.1", port)) as listener:
        while True:
            plain, _ = listener.accept()
            plain.settimeout(SECONDS)  # of a sender that was killed
            with suppress(OSError), context.wrap_socket(plain, server_side=True) as line:
                {"https": _https, "syslog": _syslog}[kind](line, file)


def _https(line: ssl.SSLSocket, file: str) -> None:
    heard = b""
    while b"\r\n\r\n" not in heard:
        heard += _some(line)
    head, _, body = heard.partition(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    while len(body) < length:
        body += _some(line)
    _keep(file, body.splitlines(keepends=True))
    line.sendall(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")


def _syslog(line: ssl.SSLSocket, file: str) -> None:
    """Keeps each message as soon as it is whole; the farewell says that they are kept."""
    heard = b""
    while piece := line.recv(4_096):
        heard, messages = _messages(heard + piece)
        _keep(file, [message.partition(b" - audit - ")[2] + b"\n" for message in messages])
    line.unwrap()


def _messages(heard: bytes) -> tuple[bytes, list[bytes]]:
    """What is no whole message yet, and the messages before it (RFC 5425)."""
    found = []
    while b" " in heard:
        length, _, rest = heard.partition(b" ")
        if len(rest) < int(length):
            break
        found.append(rest[: int(length)])
        heard = rest[int(length) :]
    return heard, found


def _some(line: ssl.SSLSocket) -> bytes:
    piece = line.recv(4_096)
    if not piece:
        raise ConnectionError
    return piece


def _keep(file: str, lines: list[bytes]) -> None:
    with open(file, "ab") as kept:
        kept.writelines(lines)
        kept.flush()
        os.fsync(kept.fileno())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4])
