"""What `./run` tells a person when it cannot go on."""

from __future__ import annotations


class DevstackError(Exception):
    """A foreseeable refusal; its text is one clear sentence with the next step."""


class AlreadyRunning(DevstackError):
    """Another process owns this profile."""


class StartFailed(DevstackError):
    """A server or program did not come up."""
