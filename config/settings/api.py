"""The REST API, and the log of its requests."""

from __future__ import annotations

from config import openapi_settings
from config.env import count

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
