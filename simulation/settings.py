"""The product's settings, without what is not simulated: the broker, the cache, mail and logs."""

from __future__ import annotations

import os

os.environ.setdefault("DEBUG", "True")
# Nothing may end because real seconds have passed: the scheduler decides who waited too long.
for _name in ("STATEMENT", "LOCK", "IDLE_TRANSACTION"):
    os.environ[f"DATABASE_{_name}_TIMEOUT_MS"] = "0"

from config.settings import *  # noqa: E402, F403  # after the variables; the simulation extends everything

DEBUG = False
CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}
CELERY_BROKER_URL = "memory://"
CELERY_BROKER_TRANSPORT_OPTIONS = {}
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
REQUEST_LOG_SECONDS = 0
CLOCK_DRIFT_SECONDS_MAX = None  # its guard is one for a process, and ours are threads of one
ROUTES_KNOWN_SECONDS = None  # read before a history: when one would read them, no seed decides
REST_FRAMEWORK = {**REST_FRAMEWORK, "DEFAULT_THROTTLE_CLASSES": []}  # noqa: F405
MIDDLEWARE = [name for name in MIDDLEWARE if "whitenoise" not in name]  # noqa: F405
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"simulation": {"class": "simulation.errors.Recorder", "level": "ERROR"}},
    "root": {"handlers": ["simulation"], "level": "WARNING"},
}
# Its processes share the connections that it can stop and cut: none has another login.
DATABASE_API = {}
DATABASE_JOBS = {}
DATABASE_API_DOOR = "common.database.doors.NoDoor"
