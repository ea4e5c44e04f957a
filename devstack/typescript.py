"""`./run typescript`: the client for TypeScript, generated, built and tested against a new copy."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from devstack import console, copies, harness, node
from devstack.node import Node, NoRegistry
from devstack.paths import ROOT, TYPESCRIPT_CLIENT

PACKAGES = ROOT / ".run" / "packages"
# In this order: the types come from openapi.yaml, the examples of the README use the built package.
STEPS = {
    "generate": "generating the types",
    "build": "building the package",
    "examples": "writing the programs of the README",
    "types": "checking the types",
}


# For CI: a machine without a registry of npm has tested everything else all the same.
WHERE_REACHABLE = "--where-reachable"


def run(arguments: Sequence[str]) -> int:
    """Build the package, then run its tests, or those that the arguments name, against a copy."""
    tools = node.ensure()
    console.report("building the client for TypeScript")
    try:
        tools.install(TYPESCRIPT_CLIENT)
    except NoRegistry as problem:
        if WHERE_REACHABLE not in arguments:
            raise
        console.report(f"SKIPPED: {problem} The client was not tested.")
        return 0
    for script, what in STEPS.items():
        tools.do(tools.npm("run", script), folder=TYPESCRIPT_CLIENT, what=what)
    code = harness.against_a_new_copy(
        "typescript",
        _tests(tools, [each for each in arguments if each != WHERE_REACHABLE]),
        copies.PRODUCT_WITHOUT_DEMO_TENANT,
        durable=False,
        variables={"BALLAST_PYTHON": sys.executable},
        folder=TYPESCRIPT_CLIENT,
    )
    if code == 0:
        _pack(tools)
    return code


def _tests(tools: Node, arguments: Sequence[str]) -> list[str]:
    return [tools.program, "--test", *(arguments or ["tests/**/*.test.ts"])]


def _pack(tools: Node) -> None:
    PACKAGES.mkdir(exist_ok=True)
    command = tools.npm("pack", "--ignore-scripts", f"--pack-destination={PACKAGES}")
    tools.do(command, folder=TYPESCRIPT_CLIENT, what="packing the package")
    console.report(f"the package is in {PACKAGES}")
