"""Names a browser from the header it sends."""

from __future__ import annotations

# The first word that occurs wins: browsers also name those they descend from.
_BROWSERS = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "Mac"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def named(user_agent: str) -> str:
    """`Firefox on Windows`, or what can be told of it."""
    browser = _first(_BROWSERS, user_agent) or "A browser"
    system = _first(_SYSTEMS, user_agent)
    return f"{browser} on {system}" if system else browser


def _first(words: tuple[tuple[str, str], ...], text: str) -> str:
    return next((name for word, name in words if word in text), "")
