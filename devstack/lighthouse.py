"""`./run lighthouse`: how fast and accessible the main pages are (`benchmarks/LIGHTHOUSE.md`)."""

from __future__ import annotations

from collections.abc import Sequence

from devstack import chromium, console, copies, harness, node
from devstack.errors import DevstackError
from devstack.paths import ROOT

FOLDER = ROOT / "benchmarks" / "lighthouse"


def run(arguments: Sequence[str]) -> int:
    """Measure them, or those with the addresses in `arguments`, on a new copy with its demo tenant;
    1 if a score is below the aim."""
    chromium.ensure()
    browser = chromium.find()
    if browser is None:
        raise DevstackError(f"no Chromium here: {chromium.ADVICE}")
    tools = node.ensure()
    console.report("installing Lighthouse")
    tools.install(FOLDER)
    return harness.against_a_new_copy(
        "lighthouse",
        [tools.program, "measure.js", *arguments],
        copies.PRODUCT,
        folder=FOLDER,
        variables={"BALLAST_CHROMIUM": browser},
    )
