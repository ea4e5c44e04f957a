"""What `./run audit` says of what pip-audit found."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from devstack import components
from devstack.components import Audited

SAFE = {"name": "django", "version": "5.2.19", "vulns": []}
BROKEN = {
    "name": "jinja2",
    "version": "2.4.1",
    "vulns": [{"id": "PYSEC-2014-8", "fix_versions": ["2.7.2"]}, {"id": "X-1", "fix_versions": []}],
}
UNKNOWN = {"name": "vine", "skip_reason": "Dependency not found"}


def told(*rows: Mapping[str, object]) -> int:
    return components._told(components.audited(json.dumps({"dependencies": rows})))


class TestAudit:
    def test_names_each_vulnerability_and_the_version_that_mends_it(self):
        output = json.dumps({"dependencies": [SAFE, BROKEN]})

        assert components.audited(output) == Audited(
            [
                "jinja2 2.4.1: PYSEC-2014-8, mended in 2.7.2",
                "jinja2 2.4.1: X-1, mended in no version yet",
            ],
            [],
            2,
        )

    def test_fails_for_a_vulnerability_and_for_a_package_that_nobody_knows(
        self, capsys: pytest.CaptureFixture[str]
    ):
        assert told(SAFE) == 0
        assert told(SAFE, BROKEN) == 1
        assert told(SAFE, UNKNOWN) == 1
        assert "vine: unknown to the service" in capsys.readouterr().out

    @pytest.mark.parametrize("output", ["", "no route to host", "{}"])
    def test_says_that_it_was_skipped_where_no_service_answered(
        self, output: str, capsys: pytest.CaptureFixture[str]
    ):
        assert components._told(components.audited(output)) == 0
        assert "SKIPPED: no data of known vulnerabilities" in capsys.readouterr().err

    def test_says_so_where_the_service_knows_none_of_the_packages(
        self, capsys: pytest.CaptureFixture[str]
    ):
        assert told(UNKNOWN) == 0
        assert "SKIPPED" in capsys.readouterr().err
