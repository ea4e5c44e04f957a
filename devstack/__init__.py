"""Everything that runs a copy of Ballast on one machine for development and tests.

The embedded PostgreSQL and Valkey, the process supervisor behind `./run up`, and the other
subcommands of `./run`. This package imports no Django, and production never imports it.
"""

from __future__ import annotations
