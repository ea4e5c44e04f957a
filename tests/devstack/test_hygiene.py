from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from devstack import hygiene
from devstack.paths import ROOT

REGISTRY = "https://files.python" + "hosted.org/packages/x.whl"
HOME = "/ho" + "me/somebody/project/x.py"


class TestThisRepository:
    def test_names_no_registry_and_no_machine_path(self):
        assert hygiene.check() == (True, "")

    @pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
    def test_pins_every_requirement_by_hash_and_names_no_address(self, name: str):
        lines = (ROOT / name).read_text().splitlines()
        pins = [line for line in lines if line[:1].isalnum()]

        assert "://" not in "".join(lines)
        assert len(pins) > 50
        assert all("==" in pin and pin.endswith("\\") for pin in pins)

    def test_pins_the_runtime_packages_alike_in_both_files(self):
        def pins(name: str) -> set[str]:
            """Without the marker: a tool may need a package where production does not."""
            lines = (ROOT / name).read_text().splitlines()
            return {line.partition(" ")[0] for line in lines if line[:1].isalnum()}

        assert pins("requirements.txt") < pins("requirements-dev.txt")


class TestFindings:
    @pytest.mark.parametrize(
        "text",
        [
            REGISTRY,
            HOME,
            "/ro" + "ot/project/x.py",
            "--index-" + "url https://mirror.example",
            "--find-" + "links wheels",
        ],
    )
    def test_name_the_file_and_line(self, tmp_path: Path, text: str):
        (tmp_path / "notes.txt").write_text(f"fine\n{text}\n")

        found = list(hygiene.findings(tmp_path, [tmp_path / "notes.txt"]))

        assert found == [f"notes.txt:2: {text}"]

    def test_look_at_tracked_text_files_only(self, tmp_path: Path):
        subprocess.run(["git", "init", "-q", tmp_path], check=True)
        (tmp_path / "tracked").write_text("fine")
        (tmp_path / "untracked").write_text(REGISTRY)
        (tmp_path / "picture").write_bytes(b"\0" + REGISTRY.encode())
        subprocess.run(["git", "add", "tracked", "picture"], cwd=tmp_path, check=True)

        files = hygiene.tracked_files(tmp_path)

        assert sorted(path.name for path in files) == ["picture", "tracked"]
        assert list(hygiene.findings(tmp_path, files)) == []
