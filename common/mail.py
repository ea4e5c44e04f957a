"""Renders and sends one e-mail. Queueing and retries are done by the outbox
(`tenants.services.emails`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string


def send(*, template: str, to: str, context: Mapping[str, Any]) -> None:
    """Send `templates/email/<template>/{subject.txt,body.txt,body.html}` to one address.

    Links are built from `BASE_URL`, never from a request's Host header. Raises SMTPException or
    OSError when the mail server does not take it.
    """
    values = {**context, "base_url": settings.BASE_URL}
    subject, text, html = (
        render_to_string(f"email/{template}/{part}", values)
        for part in ("subject.txt", "body.txt", "body.html")
    )
    message = EmailMultiAlternatives(
        subject=" ".join(subject.split()),
        body=text,
        to=[to],
        headers={"Auto-Submitted": "auto-generated"},  # RFC 3834: no "out of office" comes back
    )
    message.attach_alternative(html, "text/html")
    message.send()
