"""Requests to servers of others, most of them named by our tenants: where they may go, and a client
that keeps to it.

`addresses` says which addresses are public, `urls` which URLs may be used, `client` sends, and
`trust` says whose certificates are believed.
"""

from __future__ import annotations
