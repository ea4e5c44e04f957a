"""Settings come from the environment, are all documented, and stop the process when malformed."""

from __future__ import annotations

import ast
import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import traceback
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import env

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / ".env.example"
READERS = {
    "text", "flag", "secret", "encryption_keys", "count",
    "dated_limits", "limit", "items", "choice", "web_address",
    "stream_address", "webhook_secret", "caps",
}  # fmt: skip


def random_bytes(name: str) -> bytes:
    """32 bytes without a pattern, the same in each run."""
    return hashlib.sha256(f"tests: {name}".encode()).digest()


def key(name: str) -> str:
    return base64.b64encode(random_bytes(name)).decode()


KEY = f"k1:{key('encryption')}"
PRODUCTION = {
    "SECRET_KEY": key("sessions") + key("cursors"),
    "ENCRYPTION_KEYS": KEY,
    "FINGERPRINT_KEY": key("fingerprints"),
    "PROOF_KEY": f"p1:{key('proofs')}",
    "SEAL_KEYS": f"s1:{key('seals')}",
    "BASE_URL": "https://ballast.example",
    "ALLOWED_HOSTS": "ballast.example",
    "TRUSTED_PROXY_COUNT": "1",
}
DEVELOPMENT = {"DEBUG": "True", "BASE_URL": "http://localhost:8000"}


def names_read() -> set[str]:
    """Every name that a reader of `config.env` is called with in config/."""
    found = set()
    for path in (ROOT / "config").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                first = node.args[0] if node.args else None
                if name in READERS and isinstance(first, ast.Constant):
                    found.add(str(first.value))
    return found


def run_python(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={"PATH": os.environ["PATH"], "DJANGO_SETTINGS_MODULE": "config.settings", **variables},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )


class TestExample:
    def test_lists_exactly_the_names_that_are_read(self):
        listed = re.findall(r"^([A-Z_]+)=", EXAMPLE.read_text(), re.MULTILINE)

        assert len(listed) == len(set(listed))
        assert set(listed) == names_read()

    def test_has_one_comment_for_each(self):
        lines = EXAMPLE.read_text().splitlines()

        for place, line in enumerate(lines):
            if re.match("[A-Z_]+=", line):
                assert re.match(r"# [A-Z`0-9a-z].*[^ ]$", lines[place - 1]), line
                assert len(line) <= 100

    def test_nobody_else_reads_the_environment(self):
        packages = ("api", "approvals", "balance", "common", "dashboard", "desk", "funding",
                    "networks", "payments", "reconciliation", "seals", "solvency", "tenants",
                    "transfers", "webhooks")  # fmt: skip
        for package in packages:
            for path in (ROOT / package).rglob("*.py"):
                assert not re.search(r"os\.environ|getenv", path.read_text()), path

    @pytest.mark.slow
    def test_its_values_are_the_defaults(self):
        pairs = re.findall(r"^([A-Z_]+)=(.+)$", EXAMPLE.read_text(), re.MULTILINE)
        code = (
            "import json\n"
            "from django.conf import settings as s\n"
            "names = [n for n in dir(s) if n.isupper() and n not in ('RUN_DIR', 'LOGGING')]\n"
            "print(json.dumps({n: repr(getattr(s, n)) for n in names}))"
        )

        bare = run_python(code, **PRODUCTION)
        full = run_python(code, **(dict(pairs) | PRODUCTION))

        assert (bare.stderr, full.stderr) == ("", "")
        assert json.loads(full.stdout) == json.loads(bare.stdout)


class TestStart:
    @pytest.mark.parametrize(
        "missing", ["SECRET_KEY", "ENCRYPTION_KEYS", "FINGERPRINT_KEY", "PROOF_KEY", "SEAL_KEYS"]
    )
    def test_needs_its_secrets_outside_development(self, start, missing):
        with pytest.raises(ImproperlyConfigured, match=f"Set {missing}: outside development"):
            start(**{**PRODUCTION, missing: ""})

    @pytest.mark.parametrize(
        ("name", "value", "complaint"),
        [
            ("DEBUG", "true", "DEBUG must be True or False, not 'true'"),
            ("API_READS_PER_SECOND", "0", "must be a whole number from 1, not '0'"),
            ("ENCRYPTION_KEYS", f"{KEY},{KEY}", "each key needs an id of its own"),
            ("SEAL_KEYS", "k1:short", "key k1 is not the base64 of 32 bytes"),
            ("SEAL_WEBHOOK_URL", "http://log.example", "must be an https:// address"),
            ("SEAL_WEBHOOK_URL", "https://log.example", "Set SEAL_WEBHOOK_SECRET, too"),
            ("SEAL_WEBHOOK_SECRET", KEY, "must be whsec_ and the base64 of 24 bytes or more"),
            ("PLAID_SECRET", KEY, "Set PLAID_CLIENT_ID, too, or none of them"),
            ("PLAID_CLIENT_ID", "x", "Set PLAID_SECRET, too, or none of them"),
            ("PLAID_ENVIRONMENT", "live", "must be one of production, sandbox, not 'live'"),
            ("PLAID_HOST", "http://plaid.example", "PLAID_HOST must be an https:// address"),
            ("PLAID_LINK_SCRIPT", "//cdn.example/x.js", "must be an https:// address"),
        ],
    )
    def test_stops_at_a_malformed_value_without_telling_secrets(
        self, start, name, value, complaint
    ):
        with pytest.raises(ImproperlyConfigured) as refusal:
            start(**{**PRODUCTION, name: value})

        told = "".join(traceback.format_exception(refusal.value))
        assert complaint in told
        assert KEY not in told

    @pytest.mark.parametrize(
        "address",
        ["https://ballast.example", "https://127.0.0.1.example", "https://10.0.0.1:8000"],
    )
    @pytest.mark.parametrize(
        ("name", "value"), [("DEVELOPMENT_ROUTES", "True"), ("ACH_BANK_CLOCK", "bank/clock.json")]
    )
    def test_knows_no_stand_in_where_others_reach_us(self, start, address, name, value):
        with pytest.raises(ImproperlyConfigured, match=f"{name} is for a copy on this"):
            start(**PRODUCTION | {"BASE_URL": address, name: value})

    @pytest.mark.parametrize(
        "address", ["https://localhost:8000", "https://127.0.0.9:8000", "https://[::1]:8000"]
    )
    def test_may_on_this_machine(self, start, address):
        settings = start(**PRODUCTION | {"BASE_URL": address, "DEVELOPMENT_ROUTES": "True"})

        assert settings.DEVELOPMENT_ROUTES is True

    @pytest.mark.slow
    def test_is_clean_by_django_s_own_deployment_checks(self):
        code = (
            "from django.core.management import execute_from_command_line as run\n"
            "run(['manage.py', 'check', '--deploy', '--fail-level', 'WARNING'])"
        )

        result = run_python(code, **PRODUCTION)

        assert (result.returncode, result.stderr) == (0, "")
        assert "no issues" in result.stdout

    @pytest.mark.slow
    @pytest.mark.parametrize(("given", "there"), [({}, False), (DEVELOPMENT, True)])
    def test_knows_the_demo_in_development_only(self, given, there):
        """Its logins are public. Pages, tasks and every command are loaded before it looks."""
        code = (
            "import json, sys, django\n"
            "django.setup()\n"
            "from django.apps import apps\n"
            "from django.core.management import get_commands, load_command_class\n"
            "from config import celery, urls\n"
            "celery.app.loader.import_default_modules()\n"
            "commands = get_commands()\n"
            "for name, app in commands.items():\n"
            "    if name != 'seed_demo' and app in {c.name for c in apps.get_app_configs()}:\n"
            "        load_command_class(app, name)\n"
            "loaded = [n for n in sys.modules if n.partition('.')[0] == 'demo']\n"
            "found = 'seed_demo' in commands, apps.is_installed('demo'), bool(loaded)\n"
            "print(json.dumps(found))"
        )

        result = run_python(code, **(PRODUCTION | given))

        assert json.loads(result.stdout) == [there] * 3, result.stderr


class TestReaders:
    @pytest.mark.parametrize(
        ("given", "read"),
        [
            ("https://plaid.example", "https://plaid.example"),
            ("https://plaid.example:8443/v1/", "https://plaid.example:8443/v1"),
            ("http://127.0.0.1:9000", "http://127.0.0.1:9000"),
            ("http://localhost", "http://localhost"),
        ],
    )
    def test_an_address_is_https_or_this_machine(self, monkeypatch, given, read):
        monkeypatch.setenv("X", given)

        assert env.web_address("X", default="") == read

    @pytest.mark.parametrize(
        "given",
        ["plaid.example", "http://127.0.0.1.example", "https://", "https://a/?x=1", "ftp://a"],
    )
    def test_anything_else_is_none(self, monkeypatch, given):
        monkeypatch.setenv("X", given)

        with pytest.raises(ImproperlyConfigured):
            env.web_address("X", default="")

    def test_a_list_has_no_blanks(self, monkeypatch):
        monkeypatch.setenv("X", " a, ,b ,")

        assert env.items("X") == ["a", "b"]
        assert env.items("Y", default="c") == ["c"]

    @pytest.mark.parametrize(
        ("given", "broker"),
        [
            ("redis://localhost:6379/0", "redis://localhost:6379/0"),
            ("rediss://:pw@h:6380/1", "rediss://:pw@h:6380/1"),
            ("unix:///run/v.sock?db=3", "redis+socket:///run/v.sock?virtual_host=3"),
            ("unix:///run/v.sock", "redis+socket:///run/v.sock?virtual_host=0"),
        ],
    )
    def test_the_broker_s_address_follows_the_cache_s(self, given, broker):
        assert env.broker_url(given) == broker

    @pytest.mark.parametrize("value", ["\uff11", "1.0", "+1", " 1", "0x1", "-1", "many", "0"])
    def test_a_count_is_plain_digits(self, monkeypatch, value):
        monkeypatch.setenv("X", value)

        with pytest.raises(ImproperlyConfigured):
            env.count("X", default=1, minimum=1)

    @pytest.mark.parametrize("value", ["true", "1", "yes", "TRUE"])
    def test_a_flag_is_one_of_two_words(self, monkeypatch, value):
        monkeypatch.setenv("X", value)

        with pytest.raises(ImproperlyConfigured):
            env.flag("X", default=True)

    def test_a_limit_may_be_none(self, monkeypatch):
        monkeypatch.setenv("X", "")
        assert env.limit("X") is None

        monkeypatch.setenv("X", "7")
        assert env.limit("X") == 7
