"""What the server of `test_wire.py` runs with: the tests' settings and the machinery's views."""

from __future__ import annotations

import os

from tests.settings import *  # noqa: F403  # as in tests.settings

ROOT_URLCONF = "tests.api.machinery"
REQUEST_LOG_SECONDS = int(os.environ.get("WIRE_REQUEST_LOG_SECONDS", "0"))
