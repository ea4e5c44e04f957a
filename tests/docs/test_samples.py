"""The guide's samples are run, each in its own language where that is on the machine."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "api.md").read_text()
SECRET = "whsec_test"
BODY = (
    '{"id":"evt_1","type":"payment.completed","data":{"paymentId":"pay_1","amount":12345,'
    '"status":"completed"},"timestamp":"2026-11-20T12:00:00Z"}'
)
SIGNATURE = "ed451886b0da0b24e09700bb20b1bcf6bc842a328dcd4c88e18e4456c79bbf57"
CASES = [
    (BODY, SIGNATURE, SECRET, True),
    (BODY + " ", SIGNATURE, SECRET, False),
    (BODY, SIGNATURE[:-1] + "8", SECRET, False),
    (BODY, SIGNATURE[:-1], SECRET, False),
    (BODY, "", SECRET, False),
    (BODY, SIGNATURE, "whsec_other", False),
]


def sample(language):
    (code,) = re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)
    return code


def needs(program):
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


def run(*command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def test_the_vector_in_the_text_is_the_one_tested():
    assert BODY in GUIDE
    assert SIGNATURE in GUIDE


@pytest.mark.parametrize(("body", "signature", "secret", "expected"), CASES)
def test_python(body, signature, secret, expected):
    names: dict[str, object] = {}
    exec(sample("python"), names)
    is_authentic = names["is_authentic"]
    assert callable(is_authentic)

    assert is_authentic(body.encode(), signature, secret) is expected


@needs("node")
def test_javascript(tmp_path):
    cases = json.dumps([case[:3] for case in CASES])
    program = f"""{sample("javascript")}
    console.log(JSON.stringify({cases}.map((one) => isAuthentic(...one))));"""
    (tmp_path / "sample.js").write_text(program)

    answers = json.loads(run("node", "sample.js", folder=tmp_path))

    assert answers == [case[3] for case in CASES]


@needs("go")
def test_go(tmp_path):
    (tmp_path / "go.mod").write_text("module webhook\n")
    (tmp_path / "webhook.go").write_text(sample("go"))
    rows = "".join(f"{{{', '.join(json.dumps(value) for value in case)}}},\n" for case in CASES)
    (tmp_path / "webhook_test.go").write_text(f"""package webhook
import "testing"
func TestCases(t *testing.T) {{
	for _, c := range []struct{{ body, signature, secret string; good bool }}{{
		{rows}
	}} {{
		if IsAuthentic([]byte(c.body), c.signature, c.secret) != c.good {{ t.Fatal(c) }}
	}}
}}
""")

    assert "ok" in run("go", "test", "./...", folder=tmp_path)
