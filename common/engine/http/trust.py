"""The certificates that we trust: those of the system's bundle, or of `SSL_CERT_FILE`."""

from __future__ import annotations

import ssl
from functools import lru_cache
from pathlib import Path

_Version = tuple[int, int]


def system() -> ssl.SSLContext:
    """This process's one context. It is shared, because reading some hundred certificates takes 20
    ms of CPU.

    It is read again if the bundle is another file or was written since. A client that is open, as
    the dispatcher's is while it runs, keeps the context that it began with.
    """
    bundle = ssl.get_default_verify_paths()
    return _read(bundle, _version(bundle.cafile))


@lru_cache(maxsize=1)
def _read(bundle: ssl.DefaultVerifyPaths, version: _Version) -> ssl.SSLContext:
    """The context of this version of `bundle`, kept until another version is read."""
    return ssl.create_default_context()


def _version(file: str | None) -> _Version:
    """When `file` was written, in nanoseconds, and its size in bytes; zeros if there is no file."""
    try:
        found = Path(file).stat() if file else None
    except FileNotFoundError:  # it is being replaced just now
        found = None
    return (found.st_mtime_ns, found.st_size) if found else (0, 0)
