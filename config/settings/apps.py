"""What the product is put together from, and the language and time that it speaks."""

from __future__ import annotations

from config.settings.deployment import DEBUG

INSTALLED_APPS = [
    "common",  # first: what fields say is set before forms are made
    "unfold.apps.BasicAppConfig",
    "desk.site_config.DeskSiteConfig",  # django.contrib.admin
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django.contrib.humanize",
    "django.forms",  # widgets are rendered by the templates of `TEMPLATES`
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",  # no provider of its own: ours is tenants.sso
    "allauth.usersessions",
    "csp",
    "django_filters",
    "django_htmx",
    "django_prometheus",
    "django_structlog",
    "drf_spectacular",
    "pgtrigger",
    "rest_framework",
    "tenants",
    "api",
    "dashboard",
    "desk",
    *(["demo"] if DEBUG else []),  # its logins are public
    "networks.rails",
    "networks.ach",
    "networks.instant",
    "networks.sandbox",
    "transfers.inbox",
    "webhooks",
    "balance",
    "solvency",
    "funding",
    "payments",
    "reconciliation",
    "seals",
]

MIDDLEWARE = [
    "django_prometheus.middleware.PrometheusBeforeMiddleware",
    "api.middleware.RequestIdMiddleware",
    "config.headers.SafeHeaders",
    "api.middleware.RequestLineMiddleware",
    "api.middleware.PlainHttpMiddleware",
    "api.middleware.RequestLogMiddleware",
    "api.middleware.ApiErrorMiddleware",
    "api.middleware.AuthorityMiddleware",
    "config.middleware.RightClock",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.middleware.Compression",
    "config.middleware.ContentSecurityPolicy",
    "config.csp.AdminPolicyMiddleware",
    "config.squeezed.SqueezedPages",
    "config.zone.DeskZoneMiddleware",
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
    "desk.door.DeskLogin",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LANGUAGE_CODE = "en-us"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"
FORMAT_MODULE_PATH = "config.formats"
