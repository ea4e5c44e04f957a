from __future__ import annotations

import socket

import pytest

from devstack import bootstrap
from devstack.errors import DevstackError
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


class TestWithoutANetwork:
    @pytest.mark.slow
    @pytest.mark.parametrize("retries", ["0", "1"])
    def test_one_sentence_says_what_is_missing_and_what_to_do(
        self, tmp_path, monkeypatch, capfd, unanswered_port, retries
    ):
        """The real pip, pointed to a port on which nobody answers."""
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{unanswered_port}/simple")
        monkeypatch.setenv("PIP_RETRIES", retries)
        for name in ("HTTP_PROXY", "http_proxy", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
            monkeypatch.delenv(name, raising=False)
        lines = tmp_path / "requirements-uv.txt"
        lines.write_text("ballast-has-no-such-package==1.0 --hash=sha256:" + "0" * 64)

        with pytest.raises(DevstackError) as problem:
            bootstrap._pip_install(lines)

        assert str(problem.value).startswith("no package registry that has the pinned")
        assert "PIP_INDEX_URL" in str(problem.value)
        assert "No matching distribution" not in capfd.readouterr().err

    def test_a_registry_that_answers_without_the_package_is_another_matter(self):
        output = (
            "ERROR: Could not find a version that satisfies the requirement uv==0.0.1"
            " (from versions: 0.1.0, 0.2.0)\nERROR: No matching distribution found for uv==0.0.1\n"
        )

        assert not bootstrap.is_unreachable(output)


@pytest.fixture
def unanswered_port():
    """A port of this machine that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]
