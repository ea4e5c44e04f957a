"""Where seals and the audit log are sent on to."""

from __future__ import annotations

import base64

from config import safe_secrets
from config.env import all_or_none, stream_address, text, web_address, webhook_secret
from config.settings.deployment import DEBUG

# Where seals are published once an hour: the end of a file, an address, a mailbox.
SEAL_FILE = text("SEAL_FILE", default="")
SEAL_WEBHOOK_URL = text("SEAL_WEBHOOK_URL", default="")
if SEAL_WEBHOOK_URL:
    SEAL_WEBHOOK_URL = web_address("SEAL_WEBHOOK_URL", default="")
# `whsec_` and base64: what the receiver checks the signature with. It cannot make seals.
SEAL_WEBHOOK_SECRET = webhook_secret("SEAL_WEBHOOK_SECRET")
all_or_none(SEAL_WEBHOOK_URL=SEAL_WEBHOOK_URL, SEAL_WEBHOOK_SECRET=SEAL_WEBHOOK_SECRET)
if SEAL_WEBHOOK_SECRET and not DEBUG:
    safe_secrets.require_random_bytes(
        "SEAL_WEBHOOK_SECRET", base64.b64decode(SEAL_WEBHOOK_SECRET.removeprefix("whsec_"))
    )
SEAL_MAIL_TO = text("SEAL_MAIL_TO", default="")

# Where the audit log is sent on to, as JSON: https://…, or syslog+tls://host:port (RFC 5425).
AUDIT_STREAM_URL = stream_address("AUDIT_STREAM_URL")
# The whole Authorization header of an https receiver.
AUDIT_STREAM_AUTHORIZATION = text("AUDIT_STREAM_AUTHORIZATION", default="")
