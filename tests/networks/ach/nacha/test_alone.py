"""What the codec imports, by module; new modules of the product are seen at once."""

from __future__ import annotations

import sys

import grimp
import pytest

GRAPH = grimp.build_graph("networks", include_external_packages=True)
CODEC = "networks.ach.nacha"
VALIDATOR = f"{CODEC}.validator"
INSIDE = {name for name in GRAPH.modules if f"{name}.".startswith(f"{CODEC}.")}


@pytest.mark.parametrize("module", sorted(INSIDE))
def test_only_itself_the_letters_and_the_standard_library(module):
    imported = GRAPH.find_modules_directly_imported_by(module)

    assert imported <= INSIDE | sys.stdlib_module_names | {"networks", "networks.latin"}


def test_the_letters_stand_alone():
    assert GRAPH.find_modules_directly_imported_by("networks.latin") <= sys.stdlib_module_names


@pytest.mark.parametrize(
    "module", sorted(name for name in INSIDE if f"{name}.".startswith(f"{VALIDATOR}."))
)
def test_the_validator_shares_the_names_of_faults_and_nothing_else(module):
    ours = GRAPH.find_modules_directly_imported_by(module) & INSIDE

    assert {name for name in ours if not name.startswith(VALIDATOR)} <= {f"{CODEC}.faults"}


def test_the_writer_does_not_know_the_validator():
    assert not GRAPH.chain_exists(f"{CODEC}.writer", VALIDATOR, as_packages=True)
    assert GRAPH.chain_exists("networks.ach.management", VALIDATOR, as_packages=True)
