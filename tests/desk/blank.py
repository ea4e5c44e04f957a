"""Templates without a word, for tests that ask who gets a page and not what it says."""

from __future__ import annotations

from collections.abc import Iterator

from django.template import Origin
from django.template.loaders.base import Loader as BaseLoader


class Loader(BaseLoader):
    """Finds every template, and each is empty."""

    def get_template_sources(self, template_name: str) -> Iterator[Origin]:
        yield Origin(name=template_name, template_name=template_name, loader=self)

    def get_contents(self, origin: Origin) -> str:
        return ""
