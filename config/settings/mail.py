"""How mail leaves."""

from __future__ import annotations

from config.env import env, text
from config.settings.deployment import DEBUG, RUN_DIR

DEV_INBOX = DEBUG and not text("EMAIL_URL", default="")
EMAIL_FILE_PATH = str(RUN_DIR / "mail")
if DEV_INBOX:
    EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
else:
    vars().update(env.email_url_config(text("EMAIL_URL", default="smtp://localhost:25")))
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = text("DEFAULT_FROM_EMAIL", default="Ballast <no-reply@ballast.example>")
