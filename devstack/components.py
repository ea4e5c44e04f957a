"""The packages that production is made of: `./run sbom`, `./run licenses`, `./run audit`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple

from devstack import console, venvs
from devstack.paths import ROOT

# The pinned packages of production and nothing else; ours has the tools of development as well.
RUNTIME = ROOT / ".run" / "components"
REQUIREMENTS = ROOT / "requirements.txt"
NO_DATA = (
    "no data of known vulnerabilities can be had from this machine, so nothing was audited. Run it"
    " where the package index, or an advisory service, can be reached."
)


class Audited(NamedTuple):
    """What pip-audit said: lines of vulnerabilities, and the packages that it knew nothing of."""

    vulnerabilities: list[str]
    unknown: list[str]
    packages: int


def sbom(arguments: Sequence[str]) -> int:
    """Write the bill of materials (CycloneDX 1.6, JSON) to the named file, else to standard
    output. The same packages give the same bytes."""
    _install()
    target = arguments[0] if arguments else "-"
    return _python(
        "cyclonedx_py", "environment", str(RUNTIME), "--output-reproducible", f"-o{target}"
    )


def licenses(_arguments: Sequence[str]) -> int:
    """Show each package's license; 1 if one is not on the list in `pyproject.toml`."""
    _install()
    return _python("piplicenses", "--python", str(RUNTIME / "bin" / "python"))


def audit(_arguments: Sequence[str]) -> int:
    """Look for known vulnerabilities of the pinned packages; 1 if there are some, or if some
    packages are unknown. 0 with a line that says so where no data can be had."""
    command = [sys.executable, "-m", "pip_audit", "--format=json", "--progress-spinner=off"]
    command += ["--disable-pip", "--require-hashes", "-r", str(REQUIREMENTS)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return _told(audited(said.stdout))


def audited(output: str) -> Audited | None:
    """pip-audit's JSON; None where it wrote none, because no service answered."""
    try:
        rows = json.loads(output)["dependencies"]
    except (ValueError, KeyError):
        return None
    return Audited(
        vulnerabilities=[
            f"{row['name']} {row['version']}: {each['id']}, mended in"
            f" {', '.join(each['fix_versions']) or 'no version yet'}"
            for row in rows
            for each in row.get("vulns", ())
        ],
        unknown=[row["name"] for row in rows if "skip_reason" in row],
        packages=len(rows),
    )


def _told(found: Audited | None) -> int:
    if found is None or len(found.unknown) == found.packages:
        console.report(f"SKIPPED: {NO_DATA}")
        return 0
    for line in found.vulnerabilities:
        console.write_line(line)
    for name in found.unknown:
        console.write_line(f"{name}: unknown to the service")
    console.report(
        f"{len(found.vulnerabilities)} known vulnerabilities in {found.packages} packages"
    )
    return int(bool(found.vulnerabilities or found.unknown))


def _install() -> None:
    venvs.sync(RUNTIME, REQUIREMENTS, purpose="the packages of production")


def _python(module: str, *arguments: str) -> int:
    return subprocess.run(
        [sys.executable, "-m", module, *arguments], cwd=ROOT, check=False
    ).returncode
