"""Makes the request of one try: the frozen body, signed now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from common.engine.http.client import Answer, Client
from webhooks import signing
from webhooks.dispatcher.claims import Job
from webhooks.services import urls
from webhooks.services.secrets import Secrets, decrypt_secrets

USER_AGENT = "Ballast-Webhooks/1.0"


@dataclass(frozen=True)
class Message:
    """What a request says, whoever receives it."""

    event_id: str
    body: bytes
    attempt: int


async def send(client: Client, job: Job, *, now: datetime) -> Answer:
    """Make one try of a delivery. Raises Undecryptable; whatever the network does becomes an
    Answer."""
    secrets = decrypt_secrets(
        endpoint_id=job.endpoint_id,
        token=job.secret_token,
        previous_token=job.previous_secret_token,
        previous_expires_at=job.previous_secret_expires_at,
        now=now,
    )
    message = Message(job.event_id, job.body, job.attempt)
    return await client.post(
        job.url,
        body=job.body,
        headers=headers_of(message, secrets, now=now),
        allow_http=urls.allows_http(job.mode),
    )


def headers_of(message: Message, secrets: Secrets, *, now: datetime) -> Mapping[str, str]:
    """All headers of a delivery (`docs/api.md`)."""
    return {
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        "X-Webhook-Attempt": str(message.attempt),
        **signing.headers(
            event_id=message.event_id,
            body=message.body,
            secret=secrets.current,
            previous_secret=secrets.previous,
            now=now,
        ),
    }
