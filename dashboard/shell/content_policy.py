"""A page's own Content-Security-Policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from django.http.response import HttpResponseBase

Response = TypeVar("Response", bound=HttpResponseBase)


def with_policy(response: Response, directives: Mapping[str, Sequence[str]]) -> Response:
    """The site's policy with these directives in place of its own."""
    response._csp_replace = directives  # type: ignore[attr-defined]  # django-csp's own hook
    return response
