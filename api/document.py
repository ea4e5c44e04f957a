"""The OpenAPI document as it is on the disk, read once per process.

`./run check` proves that openapi.yaml is what the code says, so nothing is generated to serve it.
"""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import yaml
from django.conf import settings

_FILE = "openapi.yaml"
# libyaml is ten times as fast; a Python without it has only the slow one.
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Document:
    """The bytes of the document, and what can be made of them once."""

    text: bytes

    @cached_property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.text).hexdigest()[:32]}"'

    @cached_property
    def compressed(self) -> bytes:
        """The same by gzip; without a time, so every process makes the same bytes."""
        return gzip.compress(self.text, mtime=0)

    @cached_property
    def tree(self) -> dict[str, Any]:
        """The document as Python values. Whoever reads them changes none."""
        tree: dict[str, Any] = yaml.load(self.text, _Loader)  # noqa: S506  # both are safe loaders
        return tree


def current() -> Document:
    """The document of this release; read again only when the file has changed."""
    path = Path(settings.BASE_DIR) / _FILE
    return _read(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=1)
def _read(path: Path, _changed_at: int) -> Document:
    return Document(text=path.read_bytes())
