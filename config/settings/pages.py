"""Pages: templates, files beside them, the desk's looks, and how fast a person may open them."""

from __future__ import annotations

from config import desk_theme
from config.env import count
from config.settings.brand import BRAND_LOGO, BRAND_NAME, BRAND_PALETTE
from config.settings.deployment import BASE_DIR, DEBUG

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
            "builtins": ["dashboard.templatetags.brand"],
        },
    }
]

# So that templates/django/forms/ takes precedence over Django's own.
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"

# What staff upload stays in memory until it is encrypted; a larger body brings no file at all.
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.MemoryFileUploadHandler"]
FILE_UPLOAD_MAX_MEMORY_SIZE = 9 << 20  # bytes of the whole form; a file has 8 MiB at most

STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": (
            "django.contrib.staticfiles.storage.StaticFilesStorage"
            if DEBUG
            else "config.static_files.StaticFiles"
        )
    },
}
WHITENOISE_USE_FINDERS = DEBUG
WHITENOISE_IMMUTABLE_FILE_TEST = r"\.[0-9a-f]{12}\.\w+$|\.woff2$"  # a font never changes

UNFOLD = desk_theme.theme(BRAND_NAME, BRAND_PALETTE, has_logo=bool(BRAND_LOGO))

# Requests of a person per minute: pages of the dashboard, and files, which cost more.
PAGES_PER_MINUTE = count("PAGES_PER_MINUTE", default=600, minimum=1)
FILES_PER_MINUTE = count("FILES_PER_MINUTE", default=10, minimum=1)
