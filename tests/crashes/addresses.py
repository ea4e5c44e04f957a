"""Which addresses take a POST, as the URLconf has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver


def taking_posts(under: str = "", *, but_not: tuple[str, ...] = ()) -> set[str]:
    """All under a path that answer a POST, whatever it does, by their names without namespaces.

    One without a name is called by its path.
    """
    return {
        pattern.name or path
        for path, pattern in _patterns(get_resolver())
        if path.startswith(under) and not path.startswith(but_not) and _takes_post(pattern.callback)
    }


def _patterns(resolver: URLResolver, prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    for part in resolver.url_patterns:
        path = prefix + str(part.pattern)
        if isinstance(part, URLResolver):
            yield from _patterns(part, path)
        else:
            yield path, part


def _takes_post(view: Callable[..., Any]) -> bool:
    """By the class it is made of, or the methods that it requires; one that says nothing does."""
    made_of = getattr(view, "view_class", None) or getattr(view, "cls", None)
    if made_of is not None:
        return hasattr(made_of, "post")
    methods = _required(view)
    return methods is None or "POST" in methods


def _required(view: Callable[..., Any]) -> list[str] | None:
    """What `require_http_methods` was told, wherever it stands among the decorators."""
    layer: Any = view
    while layer is not None:
        code = getattr(layer, "__code__", None)
        if code is not None and "request_method_list" in code.co_freevars:
            cell = layer.__closure__[code.co_freevars.index("request_method_list")]
            found: list[str] = cell.cell_contents
            return found
        layer = getattr(layer, "__wrapped__", None)
    return None
