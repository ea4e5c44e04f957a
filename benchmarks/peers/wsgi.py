"""The WSGI application of the DRF peer: no middleware but the one that sets Content-Length."""

from __future__ import annotations

import os

os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.peers.drf_settings"

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler

django.setup()
settings.MIDDLEWARE = [
    "django.middleware.common.CommonMiddleware"
]  # after allauth asked for its own
application = WSGIHandler()
