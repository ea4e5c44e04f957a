from __future__ import annotations

from devstack import bootstrap
from devstack.paths import ROOT

COMPILED = """\
urllib9==1.0 \\
    --hash=sha256:aa
uv==0.1.0 \\
    --hash=sha256:bb \\
    --hash=sha256:cc
    # via -r requirements-dev.in
uvloop==2.0 \\
    --hash=sha256:dd
"""


class TestRequirementLines:
    def test_takes_one_package_with_its_hashes(self):
        lines = bootstrap.requirement_lines(COMPILED, "uv")

        assert lines == "uv==0.1.0 \\\n    --hash=sha256:bb \\\n    --hash=sha256:cc\n"

    def test_finds_the_pinned_uv(self):
        lines = bootstrap.requirement_lines((ROOT / "requirements-dev.txt").read_text(), "uv")

        assert lines.startswith("uv==")
        assert lines.count("--hash=sha256:") > 1
        assert not lines.rstrip().endswith("\\")
