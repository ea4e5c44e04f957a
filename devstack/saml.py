"""`./run saml`: the tests of single sign-on by SAML, which need the packages of that option."""

from __future__ import annotations

import os
from collections.abc import Sequence

from devstack import console, foreground, venvs
from devstack.paths import ROOT

VENV = ROOT / ".run" / "saml"
REQUIREMENTS = (ROOT / "requirements-dev.txt", ROOT / "requirements-saml.txt")
TESTS = "tests/tenants/sso/test_saml.py"
# For CI: a machine without a registry has tested everything else all the same.
WHERE_REACHABLE = "--where-reachable"


def run(arguments: Sequence[str]) -> int:
    """Run them, with these arguments of pytest."""
    try:
        venvs.sync(VENV, *REQUIREMENTS, purpose="single sign-on by SAML")
    except venvs.NoIndex as problem:
        if WHERE_REACHABLE not in arguments:
            raise
        console.report(f"SKIPPED: {problem} It was not tested.")
        return 0
    given = [each for each in arguments if each != WHERE_REACHABLE]
    command = [str(VENV / "bin" / "python"), "-m", "pytest", TESTS, *given]
    return foreground.run(command, environment=os.environ, folder=ROOT)
