"""SAML 2.0 beside OpenID Connect (decision 0203), with the packages of `requirements-saml.txt`.

`toolkit` configures python3-saml and begins a sign-in, `responses` judges what came back, `codes`
keeps that until the browser is back with its session. `toolkit` and `responses` can be imported
only where the packages are installed; `is_installed` says whether they are.
"""

from __future__ import annotations

from importlib.util import find_spec


def is_installed() -> bool:
    """Whether connections of this kind can be used here."""
    return all(find_spec(name) is not None for name in ("onelogin", "xmlsec", "lxml"))
