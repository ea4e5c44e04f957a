"""The product's settings, with the few switches that make tests quick and quiet."""

from __future__ import annotations

import os

os.environ.setdefault("DEBUG", "True")
os.environ.setdefault("LOG_JSON", "True")

from config.settings import *  # noqa: F403  # the one star import: tests extend everything

DEBUG = False
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
CELERY_BROKER_URL = "memory://"
CELERY_BROKER_TRANSPORT_OPTIONS = {}
SANDBOX_PACE = "instant"
API_READS_PER_SECOND = API_WRITES_PER_SECOND = 10_000
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
MIDDLEWARE = [name for name in MIDDLEWARE if "whitenoise" not in name]  # noqa: F405
INSTALLED_APPS = [*INSTALLED_APPS, "tests.database"]  # noqa: F405
REQUEST_LOG_SECONDS = 0  # tests of the log switch it on and write by hand
LOGGING["handlers"]["strict"] = {"class": "tests.logs.StrictHandler"}  # noqa: F405
LOGGING["root"]["handlers"].append("strict")  # noqa: F405
