"""What answers tell browsers to do and not to do."""

from __future__ import annotations

from csp.constants import NONE, SELF

from config.settings.deployment import IS_HTTPS, TRUSTED_PROXY_COUNT

SECURE_SSL_REDIRECT = False  # the proxy redirects browsers; the API refuses plain http
SILENCED_SYSTEM_CHECKS = ["security.W008"]  # the line above
SECURE_HSTS_SECONDS = 31_536_000 if IS_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = IS_HTTPS
SECURE_REFERRER_POLICY = "same-origin"
SECURE_PROXY_SSL_HEADER = (
    ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXY_COUNT and IS_HTTPS else None
)
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
    }
}
