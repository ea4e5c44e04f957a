"""What the server of `test_wire.py` runs with: the tests' settings, the views of `wire_urls`."""

from __future__ import annotations

import os

from tests.settings import *  # noqa: F403  # as in tests.settings

ROOT_URLCONF = "tests.config.wire_urls"
REQUEST_LOG_SECONDS = int(os.environ.get("WIRE_REQUEST_LOG_SECONDS", "0"))
