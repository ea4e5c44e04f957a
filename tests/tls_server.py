"""A TLS server on loopback that hears the beginning of what it is told, and hangs up."""

from __future__ import annotations

import socket
import ssl
import threading
from contextlib import suppress


class TlsServer:
    """`received` is what clients said once they had accepted its certificate."""

    def __init__(self, pem):
        self.received = b""
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(pem)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        with suppress(OSError):  # of `close`
            while True:
                plain, _ = self._socket.accept()
                with suppress(OSError), self._context.wrap_socket(plain, server_side=True) as line:
                    self.received += line.recv(65_536)

    def close(self):
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(5)
