"""What the readers import, by module; new modules of the product are seen at once."""

from __future__ import annotations

import sys

import grimp
import pytest

GRAPH = grimp.build_graph("networks", include_external_packages=True)
READERS = "networks.bank_statements"
INSIDE = {name for name in GRAPH.modules if f"{name}.".startswith(f"{READERS}.")}


@pytest.mark.parametrize("module", sorted(INSIDE))
def test_only_themselves_the_standard_library_and_lxml(module):
    imported = GRAPH.find_modules_directly_imported_by(module)

    assert imported <= INSIDE | sys.stdlib_module_names | {"lxml"}
    assert "xml" not in imported
    if module != f"{READERS}.camt.document":
        assert "lxml" not in imported
