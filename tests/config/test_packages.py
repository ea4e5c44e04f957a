"""The lists of packages in pyproject.toml match the layers and the tree; who imports a page."""

from __future__ import annotations

import tomllib

import grimp
import pytest

from devstack.paths import ROOT

CONFIGURATION = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
LINTER = CONFIGURATION["importlinter"]
CONTRACTS = {contract["name"]: contract for contract in LINTER["contracts"]}
PRODUCT = {
    name.strip()
    for layer in CONTRACTS["Packages depend downward only"]["layers"]
    for name in layer.split("|")
}
# What translates between people or programs and the domain; all else knows no HTTP.
INTERFACES = {"config", "desk", "dashboard", "api"}
BESIDE = {"devstack", "simulation", "demo", "benchmarks", "tests"}


def sources(contract):
    return set(CONTRACTS[contract]["source_modules"])


def test_every_package_of_the_tree_has_its_layer():
    packages = {found.parent.name for found in ROOT.glob("*/__init__.py")}

    assert packages - BESIDE == PRODUCT


def test_domain_code_is_whatever_is_no_interface():
    assert sources("Domain code does not know HTTP") == PRODUCT - INTERFACES


@pytest.mark.parametrize(
    ("contract", "besides"),
    [
        ("The product never needs the development stack", set()),
        ("The product never needs the demo", set()),
        ("The product does not know that it is simulated", {"devstack"}),
    ],
)
def test_the_product_is_whatever_has_a_layer(contract, besides):
    assert sources(contract) == PRODUCT | besides


def test_the_development_stack_imports_none_of_it():
    forbidden = set(
        CONTRACTS["The development stack stands apart from the product"]["forbidden_modules"]
    )

    assert forbidden == PRODUCT | {"django", "celery", "redis", "psycopg"}


def test_the_stand_in_bank_imports_none_of_it_either():
    forbidden = set(CONTRACTS["The stand-in bank shares no code"]["forbidden_modules"])

    assert forbidden == PRODUCT | {"django", "simulation", "demo"}


def test_contracts_see_all_of_it():
    assert set(LINTER["root_packages"]) == PRODUCT | BESIDE - {"benchmarks", "tests"}


def test_coverage_is_measured_for_all_of_it_and_the_demo():
    assert set(CONFIGURATION["coverage"]["run"]["source"]) == PRODUCT | {"demo"}


def test_imports_are_sorted_as_ours_for_all_of_it():
    assert set(CONFIGURATION["ruff"]["lint"]["isort"]["known-first-party"]) == PRODUCT | BESIDE


def test_only_tables_of_addresses_import_the_pages_of_the_dashboard():
    """The desk shows lines of the dashboard, never its pages, whatever their modules are called."""
    graph = grimp.build_graph(*PRODUCT, exclude_type_checking_imports=True)
    tables = {name for name in graph.modules if name.endswith(".urls")}
    dashboard = {name for name in tables if name.startswith("dashboard.")}
    pages = set().union(*map(graph.find_modules_directly_imported_by, dashboard)) - tables

    importers = {page: graph.find_modules_that_directly_import(page) for page in pages | dashboard}

    assert len(pages) > 25
    assert {page: found - tables for page, found in importers.items() if found - tables} == {}
