"""Pages for people, a module per page. A view reads or makes one domain call, then renders."""

from __future__ import annotations
