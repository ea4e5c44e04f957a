"""A TLS server on loopback that hears what it is told."""

from __future__ import annotations

import socket
import ssl
import threading
from contextlib import suppress


class TlsServer:
    """`received` is what clients said once they had accepted its certificate.

    It hears the beginning and hangs up, or hears all `to_the_end`, and then says farewell unless
    it `dies` before.
    """

    def __init__(self, pem, *, to_the_end=False, dies=False):
        self.received, self.pem = b"", pem
        self._to_the_end, self._dies = to_the_end, dies
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
                    self._hear(line)

    def _hear(self, line):
        while piece := line.recv(65_536):
            self.received += piece
            if not self._to_the_end:
                return
        if not self._dies:
            line.unwrap()

    def close(self):
        """Hear what is under way to its end, and stop."""
        with suppress(OSError):  # closed before
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(5)
