"""The product's settings, with the few switches that make tests quick and quiet."""

from __future__ import annotations

import os

os.environ.setdefault("DEBUG", "True")
os.environ.setdefault("LOG_JSON", "True")

from config.env import env, text
from config.settings import *  # noqa: F403  # the one star import: tests extend everything

DEBUG = False
# Tests choose their `now`, and the database's time comes after any of them. A test about clocks
# sets its own with `database_clock.at`.
DATABASES["default"]["OPTIONS"]["options"] += " -c ballast.now=2100-01-01T00:00:00Z"  # noqa: F405
# Tests work as the application's role, but log in as a superuser (`tests.database.owner`).
_OWNER_URL = text("DATABASE_OWNER_URL", default=os.environ.get("DATABASE_URL", ""))
_SUPERUSER = env.db_url_config(text("BALLAST_TEST_SUPERUSER_URL", default=_OWNER_URL))
TEST_OWNER_ROLE = env.db_url_config(_OWNER_URL)["USER"]
TEST_SUPERUSER = _SUPERUSER["USER"]
DATABASES["default"] |= {name: _SUPERUSER[name] for name in ("USER", "PASSWORD")}  # noqa: F405
DATABASE_API_DOOR = "tests.database.owner.ApiByRole"
DATABASE_JOB_DOOR = "tests.database.owner.JobByRole"
DATABASE_ROLE_MUST_BE_BOUND = False
ALLOW_DATABASE_OWNER = True  # grants bind the role; the login behind it they do not
CLOCK_DRIFT_SECONDS_MAX = None
ROUTES_KNOWN_SECONDS = None  # read before the first test, and again by tests that change them
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
CELERY_BROKER_URL = "memory://"
CELERY_BROKER_TRANSPORT_OPTIONS = {}
SANDBOX_PACE = "instant"
API_READS_PER_SECOND = API_WRITES_PER_SECOND = 10_000
PAGES_PER_MINUTE = FILES_PER_MINUTE = 10_000
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
MIDDLEWARE = [name for name in MIDDLEWARE if "whitenoise" not in name]  # noqa: F405
INSTALLED_APPS = [*INSTALLED_APPS, "tests.database"]  # noqa: F405
REQUEST_LOG_SECONDS = 0  # tests of the log switch it on and write by hand
LOGGING["handlers"]["strict"] = {"class": "tests.logs.StrictHandler"}  # noqa: F405
LOGGING["root"]["handlers"].append("strict")  # noqa: F405
