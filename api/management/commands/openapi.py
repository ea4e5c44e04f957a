from __future__ import annotations

import difflib
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiYamlRenderer
from drf_spectacular.validation import validate_schema

_SHOWN_LINES_MAX = 40


class Command(BaseCommand):
    help = "Write openapi.yaml from the code, or --check that it is what the code says."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true")

    def handle(self, *_args: object, check: bool, **_options: Any) -> None:
        path = settings.BASE_DIR / "openapi.yaml"
        text = _generate()
        if not check:
            path.write_text(text)
            return
        committed = path.read_text() if path.exists() else ""
        if committed != text:
            difference = difflib.unified_diff(
                committed.splitlines(), text.splitlines(), "openapi.yaml", "the code", lineterm=""
            )
            shown = "\n".join(list(difference)[:_SHOWN_LINES_MAX])
            raise CommandError(f"Run `./run manage openapi` and review the change:\n{shown}")


def _generate() -> str:
    schema = SchemaGenerator().get_schema(request=None, public=True)
    validate_schema(schema)
    if GENERATOR_STATS:
        raise CommandError("drf-spectacular warns: run `./run manage spectacular --validate`")
    text: bytes = OpenApiYamlRenderer().render(schema, renderer_context={})
    return text.decode()
