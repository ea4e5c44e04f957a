"""All settings, read once from the environment. `.env.example` lists every name."""

from __future__ import annotations

import base64
import hashlib
import logging
from pathlib import Path

import structlog
from csp.constants import NONE, SELF

from common import key_ring
from config import database, desk_theme, openapi_settings, safety
from config.beat import SCHEDULE, hurried
from config.env import (
    all_or_none,
    broker_url,
    caps,
    choice,
    count,
    encryption_keys,
    env,
    flag,
    items,
    limit,
    only_on_this_machine,
    secret,
    stream_address,
    text,
    web_address,
    webhook_secret,
)
from config.logs import logging_config
from config.work_queues import QUEUES, ROUTES

BASE_DIR = Path(__file__).resolve().parent.parent

# --- Deployment -------------------------------------------------------------------------------

DEBUG = flag("DEBUG", default=False)
_DEVELOPMENT_SECRET = "development-only-" + "x" * 50
SECRET_KEY = secret("SECRET_KEY", development=_DEVELOPMENT_SECRET, debug=DEBUG)
SECRET_KEY_FALLBACKS = items("SECRET_KEY_FALLBACKS")
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
# Prometheus sends this as a Bearer token to /metrics. Without it /metrics exists only in DEBUG.
METRICS_TOKEN = text("METRICS_TOKEN", default="")
RUN_DIR = Path(text("BALLAST_RUN_DIR", default=str(BASE_DIR / ".run")))

# --- Applications -----------------------------------------------------------------------------

INSTALLED_APPS = [
    "unfold",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "csp",
    "django_filters",
    "django_htmx",
    "django_prometheus",
    "django_structlog",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "pgtrigger",
    "rest_framework",
    "tenants",
    "api",
    "dashboard",
    "desk",
    *(["demo"] if DEBUG else []),  # its logins are public
    "networks.rails",
    "networks.ach",
    "networks.sandbox",
    "transfers.inbox",
    "webhooks",
    "balance",
    "funding",
    "payments",
    "seals",
]

MIDDLEWARE = [
    "django_prometheus.middleware.PrometheusBeforeMiddleware",
    "api.middleware.RequestIdMiddleware",
    "config.headers.SafeHeaders",
    "api.middleware.RequestLineMiddleware",
    "api.middleware.RequestLogMiddleware",
    "api.middleware.ApiErrorMiddleware",
    "api.middleware.AuthorityMiddleware",
    "config.middleware.RightClock",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.middleware.Compression",
    "config.middleware.ContentSecurityPolicy",
    "config.csp.AdminPolicyMiddleware",
    "config.private.AccountPagesMiddleware",
    "api.middleware.BodyLimitMiddleware",
    "api.middleware.WallMiddleware",
    "config.middleware.Session",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "config.middleware.Authentication",
    "config.middleware.Messages",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "config.middleware.Htmx",
    "config.middleware.RequestMetrics",
    "config.middleware.Outages",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

# --- PostgreSQL -------------------------------------------------------------------------------

# Migrations and grants are made by the owner of the tables, everything else by a role that owns
# nothing (decision 0114). `manage.py` says which commands are the owner's.
DATABASE_OWNER_URL = text("DATABASE_OWNER_URL", default="")
ALLOW_DATABASE_OWNER = flag("ALLOW_DATABASE_OWNER", default=False)
DATABASE_ROLE_MUST_BE_BOUND = not (DEBUG or ALLOW_DATABASE_OWNER or database.is_owner())
DATABASE_APPLICATION_ROLE = database.application_role()
# Requests of the API work under a role that sees one tenant (decision 0167).
DATABASE_API = database.api_login()
DATABASE_API_DOOR = f"common.database.doors.{'Login' if DATABASE_API else 'NoDoor'}"
DATABASE_FAST_PATH = database.takes_fast_path()
DATABASES = {"default": database.settings()}
# Whether tests and demonstrations may choose the database's time; no variable says so elsewhere.
SETTABLE_DATABASE_CLOCK = DEBUG
# A process pauses if its clock is further from the database's. None (in tests): it never does.
CLOCK_DRIFT_SECONDS_MAX: int | None = count("CLOCK_DRIFT_SECONDS_MAX", default=5, minimum=1)

# --- Valkey or Redis: wake-ups, rate limits, cache. Never the record of anything. ---------------

REDIS_URL = text("REDIS_URL", default="redis://localhost:6379/0")
if not flag("ALLOW_PLAINTEXT_VALKEY", default=False):
    safety.require_tls_to_valkey(REDIS_URL)
CACHES = {
    "default": {
        "BACKEND": "common.engine.cache.ResilientCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "ballast",
        "OPTIONS": {
            "serializer": "common.engine.cache.JsonSerializer",
            "socket_timeout": 1,
            "socket_connect_timeout": 1,
        },
    }
}

# --- Celery (measured reasons: docs/decisions/) ------------------------------------------------

CELERY_BROKER_URL = broker_url(REDIS_URL)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_VISIBILITY_TIMEOUT = 180
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": CELERY_VISIBILITY_TIMEOUT,
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
    "socket_connect_timeout": 1,
    "socket_timeout": 5,
    "global_keyprefix": "ballast:",
}
CELERY_TASK_QUEUES = QUEUES
CELERY_TASK_ROUTES = ROUTES
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_TIME_LIMIT = 120
CELERY_TASK_SOFT_TIME_LIMIT = 90
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE = SCHEDULE
CELERY_BEAT_SCHEDULER = "config.beat_scheduler:ClockedScheduler"
CELERY_BEAT_SCHEDULE_FILENAME = str(RUN_DIR / "celerybeat-schedule")

# --- Accounts ---------------------------------------------------------------------------------

AUTH_USER_MODEL = "tenants.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "tenants.passwords.GuessableValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
]
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_ADAPTER = "tenants.accounts.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_SESSION_REMEMBER = True
ALLAUTH_TRUSTED_PROXY_COUNT = TRUSTED_PROXY_COUNT
ACCOUNT_RATE_LIMITS = {
    "login": "30/m/ip",
    # Also of codes. The key is the account with the address, or with a browser it knows.
    "login_failed": "10/m/ip,5/300s/key",
    # The key is the account, for all browsers that it does not know.
    "login_failed_anywhere": "100/d/key",
    "second_factor": "50/d/key",  # our own: guesses of somebody who knows the password
    "reset_password": "20/m/ip,5/m/key",
    "reset_password_from_key": "20/m/ip",
    "reauthenticate": "10/m/user",
    "change_password": "5/m/user",
}
ACCOUNT_FORMS = {
    "change_password": "tenants.account_forms.ChangePasswordForm",
    "set_password": "tenants.account_forms.SetPasswordForm",
    "reset_password_from_key": "tenants.account_forms.ResetPasswordKeyForm",
}
MFA_RATE_LIMITS = {"webauthn_login": "10/m/ip"}
MFA_ADAPTER = "tenants.second_factor.Adapter"
MFA_FORMS = {
    "authenticate": "tenants.second_factor_forms.AuthenticateForm",
    "reauthenticate": "tenants.second_factor_forms.ReauthenticateForm",
    "activate_totp": "tenants.second_factor_forms.ActivateForm",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Ballast"
# Whoever invites a person sets their address, so there is nothing to verify.
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = DEBUG  # http://localhost
PASSWORD_RESET_TIMEOUT = 60 * 60
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "dashboard:overview"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"

SESSION_ENGINE = "tenants.session_store"
# How long a session may rest before it ends.
IDLE_MINUTES = count("IDLE_MINUTES", default=30, minimum=1)
STAFF_IDLE_MINUTES = count("STAFF_IDLE_MINUTES", default=15, minimum=1)
# How long a proof of who acts lasts: then keys, recipients, teams and the desk ask for another.
STEP_UP_MINUTES = count("STEP_UP_MINUTES", default=10, minimum=1)
ACCOUNT_REAUTHENTICATION_TIMEOUT = STEP_UP_MINUTES * 60
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 60 * 60 * 24
_HTTPS = BASE_URL.startswith("https://")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _HTTPS
SESSION_COOKIE_NAME = "__Host-sessionid" if _HTTPS else "sessionid"
DEVICE_COOKIE_NAME = "__Host-device" if _HTTPS else "device"
CSRF_COOKIE_NAME = "__Host-csrftoken" if _HTTPS else "csrftoken"
CSRF_COOKIE_HTTPONLY = True
SECURE_SSL_REDIRECT = False  # the proxy redirects browsers; the API never follows plain http
SILENCED_SYSTEM_CHECKS = ["security.W008"]  # the line above
SECURE_HSTS_SECONDS = 31_536_000 if _HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = _HTTPS
SECURE_REFERRER_POLICY = "same-origin"
SECURE_PROXY_SSL_HEADER = (
    ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXY_COUNT and _HTTPS else None
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

# --- Pages ------------------------------------------------------------------------------------

# Requests of a person per minute: pages of the dashboard, and files, which cost more.
PAGES_PER_MINUTE = count("PAGES_PER_MINUTE", default=600, minimum=1)
FILES_PER_MINUTE = count("FILES_PER_MINUTE", default=10, minimum=1)

# --- REST API ---------------------------------------------------------------------------------

API_BODY_BYTES_MAX = 64 * 1024
API_READS_PER_SECOND = count("API_READS_PER_SECOND", default=50, minimum=1)
API_WRITES_PER_SECOND = count("API_WRITES_PER_SECOND", default=20, minimum=1)
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["api.authentication.ApiKeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": [
        "api.permissions.IsActiveTenant",
        "api.permissions.HasScope",
        "api.permissions.IsWritable",
    ],
    "DEFAULT_PARSER_CLASSES": ["api.parsers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "api.negotiation.AlwaysJSON",
    "DEFAULT_SCHEMA_CLASS": "api.schema.ApiSchema",
    "EXCEPTION_HANDLER": "api.exceptions.handle",
    "URL_FORMAT_OVERRIDE": None,
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = openapi_settings.SPECTACULAR_SETTINGS

# How often each web process writes down the requests it answered; 0 switches the log off.
REQUEST_LOG_SECONDS = count("REQUEST_LOG_SECONDS", default=1)
REQUEST_LOG_DAYS = count("REQUEST_LOG_DAYS", default=14, minimum=1)

# --- Secrets at rest ----------------------------------------------------------------------------

_DEVELOPMENT_KEY = base64.b64encode(hashlib.sha256(b"ballast development").digest()).decode()
_DEVELOPMENT_ENTRY = f"dev:{_DEVELOPMENT_KEY}"
# `id:hkdf:base64 of 32 bytes`, newest first; the first one writes, all of them read. Without
# `hkdf` it is a key of earlier releases, with `wrapped` one that KEY_SERVICE unwraps.
ENCRYPTION_KEYS = encryption_keys(
    "ENCRYPTION_KEYS",
    development=f"dev2:hkdf:{_DEVELOPMENT_KEY},{_DEVELOPMENT_ENTRY}",
    debug=DEBUG,
    parse=key_ring.parse,
)
# The dotted path of a class (`common.key_ring.KeyService`); by default there is no such service.
KEY_SERVICE = text("KEY_SERVICE", default="common.key_ring.Local")
KEY_CACHE_SECONDS = count("KEY_CACHE_SECONDS", default=300, minimum=1)
_DEVELOPMENT_FINGERPRINT = "development-only"
FINGERPRINT_KEY = secret("FINGERPRINT_KEY", development=_DEVELOPMENT_FINGERPRINT, debug=DEBUG)

# --- The seal of the books ------------------------------------------------------------------------

# In the form of ENCRYPTION_KEYS. Old keys stay, so that old seals can be proven. Never kept beside
# the database or its backups.
SEAL_KEYS = encryption_keys("SEAL_KEYS", development=_DEVELOPMENT_ENTRY, debug=DEBUG)
if not DEBUG:
    for _value in (SECRET_KEY, *SECRET_KEY_FALLBACKS):
        safety.require_random_text(
            "SECRET_KEY" if _value == SECRET_KEY else "SECRET_KEY_FALLBACKS",
            _value,
            development=_DEVELOPMENT_SECRET,
            characters_min=safety.SECRET_KEY_CHARACTERS_MIN,
        )
    safety.require_random_text(
        "FINGERPRINT_KEY",
        FINGERPRINT_KEY,
        development=_DEVELOPMENT_FINGERPRINT,
        characters_min=safety.FINGERPRINT_KEY_CHARACTERS_MIN,
    )
    safety.require_random_keys("ENCRYPTION_KEYS", ENCRYPTION_KEYS, development=_DEVELOPMENT_ENTRY)
    safety.require_random_keys("SEAL_KEYS", SEAL_KEYS, development=_DEVELOPMENT_ENTRY)
# Where seals are published once an hour: the end of a file, an address, a mailbox.
SEAL_FILE = text("SEAL_FILE", default="")
SEAL_WEBHOOK_URL = text("SEAL_WEBHOOK_URL", default="")
if SEAL_WEBHOOK_URL:
    SEAL_WEBHOOK_URL = web_address("SEAL_WEBHOOK_URL", default="")
# `whsec_` and base64: what the receiver checks the signature with. It cannot make seals.
SEAL_WEBHOOK_SECRET = webhook_secret("SEAL_WEBHOOK_SECRET")
all_or_none(SEAL_WEBHOOK_URL=SEAL_WEBHOOK_URL, SEAL_WEBHOOK_SECRET=SEAL_WEBHOOK_SECRET)
SEAL_MAIL_TO = text("SEAL_MAIL_TO", default="")

# Where the audit log is sent on to, as JSON: https://…, or syslog+tls://host:port (RFC 5425).
AUDIT_STREAM_URL = stream_address("AUDIT_STREAM_URL")
# The whole Authorization header of an https receiver.
AUDIT_STREAM_AUTHORIZATION = text("AUDIT_STREAM_AUTHORIZATION", default="")

# --- Networks, funding, webhooks -----------------------------------------------------------------

# How fast the sandbox bank moves: instant, seconds or banking_days.
SANDBOX_PACE = text("SANDBOX_PACE", default="seconds")
# Lets live tenants use a stand-in where a route says so: on a developer's machine only.
DEVELOPMENT_ROUTES = flag("DEVELOPMENT_ROUTES", default=False)
# Where the stand-in bank of a development copy, whose days pass in seconds, says what its clock
# shows. Its files, and what is due between banks, are then dated by that clock.
ACH_BANK_CLOCK = text("ACH_BANK_CLOCK", default="")
only_on_this_machine(
    BASE_URL, DEVELOPMENT_ROUTES=DEVELOPMENT_ROUTES, ACH_BANK_CLOCK=bool(ACH_BANK_CLOCK)
)
if ACH_BANK_CLOCK:
    CELERY_BEAT_SCHEDULE = hurried(SCHEDULE)
# How long a process uses what it read about routes. None (in tests): until it changes one itself.
ROUTES_KNOWN_SECONDS: int | None = 3
# Messages of networks that are applied in one transaction where they are plain; 1: each alone.
NETWORK_MESSAGES_PER_SET = count("NETWORK_MESSAGES_PER_SET", default=200, minimum=1)
# Cents per funding transaction.
ACH_AMOUNT_MAX = count("ACH_AMOUNT_MAX", default=100_000_000, minimum=1)
RTP_AMOUNT_MAX = count("RTP_AMOUNT_MAX", default=1_000_000_000, minimum=1)
# Cents per Eastern day and month, over all methods; empty means no limit.
DAILY_FUNDING_MAX = limit("DAILY_FUNDING_MAX")
MONTHLY_FUNDING_MAX = limit("MONTHLY_FUNDING_MAX")
# Cents per payment, by method.
PAYMENT_AMOUNT_MAX = {
    "ach_credit": count("PAYMENT_ACH_AMOUNT_MAX", default=100_000_000, minimum=1),
    "rtp": count("PAYMENT_RTP_AMOUNT_MAX", default=1_000_000_000, minimum=1),
}
# What a live tenant may pay out in any 24 hours (day) and any 30 days (month), unless it has limits
# of its own: cents, and how many payments.
PAYMENT_LIMITS = caps(
    "PAYMENT_LIMITS",
    default=(
        "tenant.day=100000000/1000,tenant.month=1000000000/20000,"
        "recipient.day=25000000/50,recipient.month=100000000/500,"
        "key.day=100000000/1000,key.month=1000000000/20000,"
        "person.day=50000000/500,person.month=500000000/10000"
    ),
)
# How long somebody who is new among a live tenant's owners and approvers cannot approve payments.
NEW_APPROVER_HOURS = count("NEW_APPROVER_HOURS", default=24)
# Cents above which a second person approves the payments of a live tenant that set no limit itself
# and has somebody to ask.
PAYMENT_APPROVAL_ABOVE = count("PAYMENT_APPROVAL_ABOVE", default=1_000_000)
# For how many hours a recipient of a live tenant is new: a second person approves payments to it.
RECIPIENT_COOL_DOWN_HOURS = count("RECIPIENT_COOL_DOWN_HOURS", default=24)
# How long a payment may wait for money before it gives up.
PAYMENT_WAIT_DAYS = count("PAYMENT_WAIT_DAYS", default=7, minimum=1)
# Networks that webhooks may reach although they are not public, e.g. `127.0.0.0/8,::1/128`.
WEBHOOK_ALLOWED_NETWORKS = items("WEBHOOK_ALLOWED_NETWORKS")
WEBHOOK_ALLOW_HTTP = flag("WEBHOOK_ALLOW_HTTP", default=False)

# --- Bank linking of live tenants: Plaid, connected when it has an id and a secret ----------------

PLAID_CLIENT_ID = text("PLAID_CLIENT_ID", default="")
PLAID_SECRET = text("PLAID_SECRET", default="")
all_or_none(PLAID_CLIENT_ID=PLAID_CLIENT_ID, PLAID_SECRET=PLAID_SECRET)
PLAID_ENVIRONMENT = choice("PLAID_ENVIRONMENT", of=("production", "sandbox"))
PLAID_HOST = web_address("PLAID_HOST", default=f"https://{PLAID_ENVIRONMENT}.plaid.com")
PLAID_LINK_SCRIPT = web_address(
    "PLAID_LINK_SCRIPT", default="https://cdn.plaid.com/link/v2/stable/link-initialize.js"
)
# True once the address of our link page is entered at Plaid, which refuses any other.
PLAID_RETURN = flag("PLAID_RETURN", default=False)

# --- Mail -----------------------------------------------------------------------------------------

DEV_INBOX = DEBUG and not text("EMAIL_URL", default="")
EMAIL_FILE_PATH = str(RUN_DIR / "mail")
if DEV_INBOX:
    EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
else:
    vars().update(env.email_url_config(text("EMAIL_URL", default="smtp://localhost:25")))
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = text("DEFAULT_FROM_EMAIL", default="Ballast <no-reply@ballast.example>")

# --- Staff desk -----------------------------------------------------------------------------------

# Only development may let staff in with a password alone.
# How long access that staff propose waits for its approval (decision 0168).
STAFF_ACCESS_DELAY_HOURS = count("STAFF_ACCESS_DELAY_HOURS", default=24, minimum=1)
STAFF_SECOND_FACTOR = flag("STAFF_SECOND_FACTOR", default=not DEBUG) or not DEBUG

UNFOLD = desk_theme.UNFOLD

# --- Time, language, static files -----------------------------------------------------------------

LANGUAGE_CODE = "en-us"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"
FORMAT_MODULE_PATH = "config.formats"
STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": (
            "django.contrib.staticfiles.storage.StaticFilesStorage"
            if DEBUG
            else "whitenoise.storage.CompressedManifestStaticFilesStorage"
        )
    },
}
WHITENOISE_USE_FINDERS = DEBUG
WHITENOISE_IMMUTABLE_FILE_TEST = r"\.[0-9a-f]{12}\.\w+$|\.woff2$"  # a font never changes

# --- Logs -----------------------------------------------------------------------------------------

DJANGO_STRUCTLOG_CELERY_ENABLED = True
DJANGO_STRUCTLOG_CELERY_TASK_RETRY_LOG_LEVEL = logging.DEBUG  # also a line per expired tick
DJANGO_STRUCTLOG_STATUS_START_LOG_LEVEL = logging.DEBUG  # of streams: one line is enough
LOGGING = logging_config(json_lines=flag("LOG_JSON", default=not DEBUG))
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.filter_by_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.format_exc_info,
        structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
    ],
    logger_factory=structlog.stdlib.LoggerFactory(),
    cache_logger_on_first_use=True,
)
