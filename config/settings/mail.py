"""How mail leaves."""

from __future__ import annotations

from config import safety
from config.env import env, flag, text
from config.settings.deployment import BASE_URL, DEBUG, RUN_DIR

DEV_INBOX = DEBUG and not text("EMAIL_URL", default="")
EMAIL_FILE_PATH = str(RUN_DIR / "mail")
if DEV_INBOX:
    EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
else:
    _mail = env.email_url_config(text("EMAIL_URL", default="smtp://localhost:25"))
    vars().update(_mail)
    if not flag("ALLOW_PLAINTEXT_MAIL", default=False):
        safety.require_tls_to_mail_server(_mail, base_url=BASE_URL)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = text("DEFAULT_FROM_EMAIL", default="Ballast <no-reply@ballast.example>")
