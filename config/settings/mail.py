"""How mail leaves."""

from __future__ import annotations

from email.utils import formataddr, parseaddr

from config import safety
from config.env import env, flag, text
from config.settings.brand import BRAND_MAIL_SENDER
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
_name, _address = parseaddr(text("DEFAULT_FROM_EMAIL", default="no-reply@ballast.example"))
DEFAULT_FROM_EMAIL = formataddr((_name or BRAND_MAIL_SENDER, _address))
