"""The product's settings and apps, with nothing but DRF's own way of answering."""

from __future__ import annotations

from config.settings import *  # noqa: F403  # the very same settings, less what follows

ROOT_URLCONF = "benchmarks.peers.drf"
WSGI_APPLICATION = "benchmarks.peers.wsgi.application"
REST_FRAMEWORK = {"DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"]}
