"""Where webhooks may go."""

from __future__ import annotations

from config import safety
from config.env import flag, items
from config.settings.deployment import BASE_URL

# Networks that webhooks may reach although they are not public, e.g. `127.0.0.0/8,::1/128`.
WEBHOOK_ALLOWED_NETWORKS = items("WEBHOOK_ALLOWED_NETWORKS")
safety.require_narrow_exceptions(WEBHOOK_ALLOWED_NETWORKS, base_url=BASE_URL)
WEBHOOK_ALLOW_HTTP = flag("WEBHOOK_ALLOW_HTTP", default=False)
