"""A TLS server that says, to each request, exactly the bytes that a test wants."""

from __future__ import annotations

import base64
import contextlib
import datetime
import hashlib
import ipaddress
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from networks.instant.transport.identity import Identity

HOST = "127.0.0.1"

Says = Callable[[socket.socket], None]


def answer(status: str, body: bytes = b"", *, headers: str = "") -> Says:
    """Answer as HTTP is."""
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode()
    return lambda line: line.sendall(head + body)


def answered(content: object) -> Says:
    return answer("200 OK", json.dumps(content).encode())


def message(id_: str, content: bytes) -> dict[str, str]:
    """A message as it is handed out."""
    return {"id": id_, "content": base64.b64encode(content).decode()}


def hang_up(line: socket.socket) -> None:
    """Say nothing, and end."""
    line.shutdown(socket.SHUT_RDWR)


def cut_short(line: socket.socket) -> None:
    """Promise more than comes."""
    line.sendall(b"HTTP/1.1 422 No\r\nContent-Length: 99\r\n\r\nx")
    hang_up(line)


def drip(line: socket.socket) -> None:
    """A byte now and then, for ever."""
    line.sendall(b"HTTP/1.1 202 Accepted\r\nX-Slow: ")
    with contextlib.suppress(OSError):
        while True:
            line.sendall(b"x")
            time.sleep(0.02)


class Keys:
    """A certificate, its key and the pin of it."""

    def __init__(self) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
        now = datetime.datetime.now(datetime.UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(
                x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(HOST))]),
                critical=False,
            )
            .sign(key, hashes.SHA256())
        )
        self.certificate = certificate.public_bytes(serialization.Encoding.PEM)
        self.private_key = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        public = key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        self.pin = hashlib.sha256(public).hexdigest()


def identity(ours: Keys, *servers: Keys) -> Identity:
    pins = tuple(each.pin for each in servers)
    return Identity(certificate=ours.certificate, private_key=ours.private_key, pins=pins)


class Server:
    """Lets in only who shows the one client certificate. `script` holds what it says, in order;
    the last one again and again. `requests` holds what it was asked, `lines` counts connections."""

    def __init__(self, folder: Path, keys: Keys, client: Keys) -> None:
        self.script: list[Says] = []
        self.requests: list[bytes] = []
        self.lines = 0
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.verify_mode = ssl.CERT_REQUIRED
        self._context.load_verify_locations(cadata=client.certificate.decode())
        pem = folder / "server.pem"
        pem.write_bytes(keys.certificate + keys.private_key)
        self._context.load_cert_chain(pem)
        self._socket = socket.create_server((HOST, 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def url(self) -> str:
        return f"https://{HOST}:{self.port}/rtp"

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _listen(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                raw, _address = self._socket.accept()
                threading.Thread(target=self._serve, args=(raw,), daemon=True).start()

    def _serve(self, raw: socket.socket) -> None:
        with contextlib.suppress(OSError), self._context.wrap_socket(raw, server_side=True) as line:
            self.lines += 1
            with line.makefile("rb") as file:
                while request := _request(file):
                    self.requests.append(request)
                    says = self.script.pop(0) if len(self.script) > 1 else self.script[0]
                    says(line)


def _request(file) -> bytes:
    """The request line, and the body behind a blank."""
    first = file.readline()
    length = 0
    while (header := file.readline().strip()) != b"":
        name, _, value = header.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    return first.strip() + b" " + file.read(length) if first else b""
