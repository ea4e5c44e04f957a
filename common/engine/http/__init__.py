"""Requests to other people's servers, most of which are named by our tenants: the rule where
requests may go, and a client that obeys it.

`addresses` says which addresses are public, `urls` which URLs may be used, `client` sends, and
`trust` says which certificates are trusted.
"""

from __future__ import annotations
