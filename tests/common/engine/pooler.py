"""A pooler that hands server connections to its clients transaction by transaction, as told.

A process of its own: some calls of libpq keep the interpreter's lock while they wait for it.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

_READY = b"Z"
_IDLE = b"I"
_TERMINATE = b"X"


class Pooler:
    """Listens on a unix socket. `use(n)` says which server connection serves the next transaction,
    whoever begins it. Tests take turns, so nobody ever waits for a server."""

    def __init__(self, folder: Path, parameters: dict[str, str], servers: int) -> None:
        self._server_path = f"{parameters['host']}/.s.PGSQL.{parameters.get('port', '5432')}"
        self._startup = _startup(parameters)
        self.servers = [self._connect() for _ in range(servers)]
        self._chosen = 0
        self._moves_to: int | None = None
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / ".s.PGSQL.5432"))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def use(self, server: int) -> None:
        self._chosen = server

    def move_after_next(self, server: int) -> None:
        """The next transaction is served as before, and those after it by `server`."""
        self._moves_to = server

    def _connect(self) -> tuple[socket.socket, bytes]:
        """A server connection, and what the server said when it was made."""
        server = socket.socket(socket.AF_UNIX)
        server.connect(self._server_path)
        server.sendall(self._startup)
        greeting = b"".join(raw for _, raw in _until_ready(server))
        return server, greeting

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=[client], daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError, EOFError):
            _exactly(client, struct.unpack("!I", _exactly(client, 4))[0] - 4)
            client.sendall(self.servers[0][1])
            server = None
            while True:
                kind, raw = _message(client)
                if kind == _TERMINATE:
                    return
                server = server or self.servers[self._chosen][0]
                server.sendall(raw)
                if kind in {b"Q", b"S"}:
                    answers = list(_until_ready(server))
                    client.sendall(b"".join(answer for _, answer in answers))
                    if answers[-1][1].endswith(_IDLE):
                        server = None
                        if self._moves_to is not None:
                            self._chosen, self._moves_to = self._moves_to, None


def _startup(parameters: dict[str, str]) -> bytes:
    pairs = {"user": parameters["user"], "database": parameters["dbname"]}
    body = b"".join(f"{name}\0{value}\0".encode() for name, value in pairs.items()) + b"\0"
    return struct.pack("!II", len(body) + 8, 196608) + body


def _until_ready(server: socket.socket) -> Iterator[tuple[bytes, bytes]]:
    while True:
        kind, raw = _message(server)
        yield kind, raw
        if kind == _READY:
            return


def _message(peer: socket.socket) -> tuple[bytes, bytes]:
    head = _exactly(peer, 5)
    return head[:1], head + _exactly(peer, struct.unpack("!I", head[1:])[0] - 4)


def _exactly(peer: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = peer.recv(size - len(data))
        if not more:
            raise EOFError
        data += more
    return data


class PoolerProcess:
    """The pooler as tests see it."""

    def __init__(self, folder: Path, parameters: dict[str, str], servers: int) -> None:
        self.address = {
            "host": str(folder), "port": "5432",
            "user": parameters["user"], "dbname": parameters["dbname"],
        }  # fmt: skip
        command = [sys.executable, "-m", "tests.common.engine.pooler", str(folder), str(servers)]
        self._process = subprocess.Popen(
            [*command, json.dumps(parameters)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._await_answer()

    def use(self, server: int) -> None:
        """The next transactions are served by this one."""
        self._tell("use", server)

    def move_after_next(self, server: int) -> None:
        """The next transaction is served as before, and those after it by `server`."""
        self._tell("move_after_next", server)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _tell(self, word: str, server: int) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word} {server}\n")
        self._process.stdin.flush()
        self._await_answer()

    def _await_answer(self) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ok\n"


@contextlib.contextmanager
def pooling(
    folder: Path, connection: psycopg.Connection[Any], *, servers: int
) -> Iterator[PoolerProcess]:
    """A pooler before the server that `connection` is of."""
    pooler = PoolerProcess(folder, connection.info.get_parameters(), servers)
    try:
        yield pooler
    finally:
        pooler.close()


def main() -> None:
    """Obey lines of standard input."""
    folder, servers, parameters = sys.argv[1:]
    pooler = Pooler(Path(folder), json.loads(parameters), int(servers))
    sys.stdout.write("ok\n")
    sys.stdout.flush()
    for line in sys.stdin:
        word, server = line.split()
        getattr(pooler, word)(int(server))
        sys.stdout.write("ok\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
