"""Settings read as a process reads them at its start."""

from __future__ import annotations

import importlib
import os
import sys

import pytest
import structlog


@pytest.fixture
def start(monkeypatch):
    """Read the settings as a process does that has these variables and no others.

    They set up structlog anew, and loggers that are in use already would no longer follow it: then
    tests that come later in this process could not capture what is logged.
    """
    configured = structlog.get_config()

    def read(**variables):
        for name in list(os.environ):
            monkeypatch.delenv(name)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        for name in [name for name in sys.modules if name.startswith("config.settings")]:
            monkeypatch.delitem(sys.modules, name)
        return importlib.import_module("config.settings")

    yield read
    structlog.configure(**configured)
