"""Settings read as a process reads them at its start."""

from __future__ import annotations

import importlib
import os
import sys

import pytest


@pytest.fixture
def start(monkeypatch):
    """Read the settings as a process does that has these variables and no others."""

    def read(**variables):
        for name in list(os.environ):
            monkeypatch.delenv(name)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        for name in [name for name in sys.modules if name.startswith("config.settings")]:
            monkeypatch.delitem(sys.modules, name)
        return importlib.import_module("config.settings")

    return read
