"""The worker that serves the product: what gunicorn refuses, it refuses as the API does."""

from __future__ import annotations

from socket import socket
from typing import Any

from gunicorn.http.errors import ParseException

from common.engine.gunicorn.worker import PatientWorker
from config.env import count
from config.web_refusals import refuse, require_clear_headers


class ApiWorker(PatientWorker):
    """Answers problem documents where gunicorn would answer pages of HTML."""

    client_seconds = count("WEB_READ_TIMEOUT_SECONDS", default=10, minimum=1)
    # A byte more than pages take (DATA_UPLOAD_MAX_MEMORY_SIZE). The API takes less.
    body_bytes_max = 2_621_440 + 1

    def handle_request(self, req: Any, conn: Any) -> bool:
        """Whether the connection stays open. What Django could not see any more is refused here."""
        try:
            require_clear_headers(req.version, req.headers)
        except ParseException as error:
            self.handle_error(req, conn.sock, conn.client, error)
            return False
        return bool(super().handle_request(req, conn))

    def handle_error(self, req: Any, client: socket, addr: Any, exc: Exception) -> None:
        refuse(client, exc)
