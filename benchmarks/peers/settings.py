"""A Django project that holds nothing but peers, in a database of its own on the same server."""

from __future__ import annotations

import os

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "bench_peers",
        "HOST": os.environ["PGHOST"],
        "USER": os.environ["PGUSER"],
        "CONN_MAX_AGE": None,
        "OPTIONS": {"server_side_binding": True, "prepare_threshold": 2},
    }
}
SECRET_KEY = "benchmark"  # noqa: S105  # signs nothing
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.sessions",
    "mptt",
    "djmoney",
    *os.environ["PEER_APPS"].split(","),
]
CURRENCIES = ("USD",)
DEFAULT_CURRENCY = "USD"
HORDAK_CURRENCIES = ["USD"]
CELERY_BROKER_URL = os.environ.get("PEER_BROKER", "")
DJANGO_WEBHOOK = {"MODELS": [], "USE_CACHE": False}
