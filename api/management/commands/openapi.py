from __future__ import annotations

import difflib
import io
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiYamlRenderer
from drf_spectacular.validation import validate_schema

_SHOWN_LINES_MAX = 40
_ADVICE = (
    "A choice gets its name in ENUM_NAME_OVERRIDES (config/openapi_settings.py): by its class, or"
    " by the class's `.values`, as the serializers take it."
)


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
    warnings = io.StringIO()
    with redirect_stderr(warnings):
        schema = SchemaGenerator().get_schema(request=None, public=True)
    validate_schema(schema)
    if GENERATOR_STATS:
        raise CommandError(explain(warnings.getvalue(), schema))
    text: bytes = OpenApiYamlRenderer().render(schema, renderer_context={})
    return text.decode()


def explain(warnings: str, schema: Mapping[str, Any]) -> str:
    """The warnings of drf-spectacular, what uses the components they name, and what to do."""
    lines = [
        f"{name} is used by {', '.join(uses)}"
        for name, uses in _uses(schema["components"]["schemas"])
        if f'"{name}"' in warnings or f"({name})" in warnings
    ]
    return "\n".join([warnings.strip(), *lines, _ADVICE])


def _uses(schemas: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Each component, with the properties of others that refer to it."""
    for name in schemas:
        reference = f"'#/components/schemas/{name}'"
        yield (
            name,
            [
                f"{user}.{member}"
                for user, schema in schemas.items()
                for member, shape in schema.get("properties", {}).items()
                if reference in repr(shape)
            ],
        )
