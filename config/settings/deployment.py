"""Where this copy runs, and what stands in front of it."""

from __future__ import annotations

from pathlib import Path

from config import safe_secrets, safety
from config.env import count, flag, items, text

BASE_DIR = Path(__file__).resolve().parents[2]

DEBUG = flag("DEBUG", default=False)
BASE_URL = text("BASE_URL", default="http://localhost:8000").rstrip("/")
ALLOWED_HOSTS = items("ALLOWED_HOSTS", default="localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = items("CSRF_TRUSTED_ORIGINS", default=BASE_URL)
# How many proxies of ours stand in front and append to X-Forwarded-For; 0 trusts none.
TRUSTED_PROXY_COUNT = count("TRUSTED_PROXY_COUNT", default=0)
if DEBUG:
    safety.require_private_address(BASE_URL)
    safety.require_private_bind(text("WEB_BIND", default="127.0.0.1:8000"))
else:
    safety.require_https(
        BASE_URL,
        proxies=TRUSTED_PROXY_COUNT,
        is_without_proxy=flag("SERVED_WITHOUT_PROXY", default=False),
    )
    safety.require_own_names(ALLOWED_HOSTS)
    safety.require_own_origins(CSRF_TRUSTED_ORIGINS)
IS_HTTPS = BASE_URL.startswith("https://")
# Prometheus sends this as a Bearer token to /metrics. Without it /metrics exists only in DEBUG.
METRICS_TOKEN = text("METRICS_TOKEN", default="")
if METRICS_TOKEN and not DEBUG:
    safe_secrets.require_random_text(
        "METRICS_TOKEN", METRICS_TOKEN, characters_min=safe_secrets.METRICS_TOKEN_CHARACTERS_MIN
    )
RUN_DIR = Path(text("BALLAST_RUN_DIR", default=str(BASE_DIR / ".run")))
