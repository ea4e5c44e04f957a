"""What the codec and the transports import, by module; new modules of the product are seen at
once."""

from __future__ import annotations

import sys

import grimp
import pytest

GRAPH = grimp.build_graph("networks", include_external_packages=True)
PARTS = {
    "networks.instant.iso": {"lxml", "networks.latin"},
    "networks.instant.transport": {"cryptography"},
}
INSIDE = {
    part: {name for name in GRAPH.modules if f"{name}.".startswith(f"{part}.")} for part in PARTS
}
MODULES = sorted((part, module) for part, modules in INSIDE.items() for module in modules)


@pytest.mark.parametrize(("part", "module"), MODULES)
def test_only_themselves_the_standard_library_and_one_more(part, module):
    imported = GRAPH.find_modules_directly_imported_by(module)

    assert imported <= INSIDE[part] | sys.stdlib_module_names | PARTS[part]
    assert "xml" not in imported
