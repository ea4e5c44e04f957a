"""The integration guide, docs/api.md, as a page: headings with anchors, tables and code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from common import brand

_SOURCE = Path("docs", "api.md")
_NO_LETTERS = re.compile(r"[^a-z0-9]+")
# Where links to files of the repository lead on the site; others become plain text.
_ADDRESSES = {"../openapi.yaml": "/api/schema", "api.md": "/docs/guide"}
# The host of the samples in the file; a page shows where its own product is called.
_HOST = "http://localhost:8000"
_PRODUCT = "Ballast"  # what the file calls it
_SITE = ("https://", "/", "#")


@dataclass(frozen=True)
class Section:
    """A line of the table of contents."""

    id: str
    title: str


@dataclass(frozen=True)
class Guide:
    title: str
    sections: Sequence[Section]
    html: SafeString


def guide() -> Guide:
    """The guide as it is on the disk; rendered again only when the file has changed."""
    path = Path(settings.BASE_DIR) / _SOURCE
    return _render(path, path.stat().st_mtime_ns, settings.BASE_URL, brand.name())


@lru_cache(maxsize=1)
def _render(path: Path, _changed_at: int, base_url: str, product: str) -> Guide:
    return render(path.read_text(encoding="utf-8"), base_url=base_url, product=product)


def render(text: str, *, base_url: str = _HOST, product: str = _PRODUCT) -> Guide:
    """Markdown with tables; raw HTML in it is shown, not obeyed. Samples call `base_url`, and
    sentences name the `product`."""
    markdown = _markdown()
    tokens = markdown.parse(text.replace(_HOST, base_url))
    _name(product, tokens)
    title = ""
    sections = []
    for opening, content in _headings(tokens):
        if opening.tag == "h1":
            title = content.content
            continue
        section = Section(id=_slug(content.content), title=_plain(content))
        opening.attrSet("id", section.id)
        content.children = _linked(content.children or [], f"#{section.id}")
        if opening.tag == "h2":
            sections.append(section)
    for token in tokens:
        token.children = list(_readdressed(token.children)) if token.children else token.children
    html = markdown.renderer.render(tokens, markdown.options, {})
    return Guide(title=title, sections=sections, html=mark_safe(html))  # noqa: S308  # no raw HTML


def _name(product: str, tokens: Sequence[Token]) -> None:
    """Names the product in sentences. Code keeps its names, which are those of the client."""
    for token in tokens:
        for part in token.children or ():
            if part.type == "text":
                part.content = part.content.replace(_PRODUCT, product)


def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    for name, rule in (
        ("fence", _fence),
        ("table_open", _table_open),
        ("table_close", _table_close),
    ):
        markdown.add_render_rule(name, rule)
    return markdown


def _headings(tokens: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    for opening, content in pairwise(tokens):
        if opening.type == "heading_open":
            yield opening, content


def _slug(text: str) -> str:
    return _NO_LETTERS.sub("-", text.lower()).strip("-")


def _plain(content: Token) -> str:
    return "".join(child.content for child in content.children or [])


def _linked(children: Sequence[Token], href: str) -> list[Token]:
    opening = Token("link_open", "a", 1, attrs={"href": href, "class": "anchor"})
    return [opening, *children, Token("link_close", "a", -1)]


def _readdressed(children: Sequence[Token]) -> Iterator[Token]:
    """Point links at pages of the site; a link to a file that is not served becomes plain text."""
    is_dropped = False
    for token in children:
        if token.type == "link_open":
            href = str(token.attrGet("href"))
            address = _ADDRESSES.get(href, href)
            token.attrSet("href", address)
            is_dropped = not address.startswith(_SITE)
        if is_dropped and token.type in {"link_open", "link_close"}:
            continue
        yield token


def _fence(_self: Any, tokens: Sequence[Token], index: int, _options: Any, _env: Any) -> str:
    code = escape(tokens[index].content.rstrip("\n"))
    return f'<pre class="snippet" tabindex="0"><code>{code}</code></pre>\n'


def _table_open(_self: Any, *_rest: Any) -> str:
    return '<div class="scroll" tabindex="0"><table class="table">\n'


def _table_close(_self: Any, *_rest: Any) -> str:
    return "</table></div>\n"
