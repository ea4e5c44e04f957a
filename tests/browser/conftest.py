"""The browser of the machine, driven by Playwright."""

from __future__ import annotations

import os
from typing import Any

import pytest

from devstack import chromium

# Playwright runs an event loop in this thread, which Django would take for asynchronous code.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium refuses it to root
    return browser_type_launch_args | {"executable_path": chromium.find(), "args": sandbox}
