"""The WSGI application served by gunicorn."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

from common.database import roles

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = get_wsgi_application()
roles.refuse_to_start()
