"""The whole story over real HTTP, as a program to read. `./run demo` starts a copy and runs it."""

from __future__ import annotations
