"""Where webhooks may go."""

from __future__ import annotations

from config.env import flag, items

# Networks that webhooks may reach although they are not public, e.g. `127.0.0.0/8,::1/128`.
WEBHOOK_ALLOWED_NETWORKS = items("WEBHOOK_ALLOWED_NETWORKS")
WEBHOOK_ALLOW_HTTP = flag("WEBHOOK_ALLOW_HTTP", default=False)
