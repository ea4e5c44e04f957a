"""The shared corpus of hostile input, run against the started product by its own runner."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection

from api.pagination import _signed
from approvals import deciders, links
from common.clock import utc_now
from devstack import postgres
from devstack.paths import profile
from funding.models import FundingMethod
from funding.services import approvals, sources
from funding.services.approval_policy import POLICY
from funding.states import FundingStatus
from tenants.actors import SYSTEM
from tenants.services import accounts
from tests.builders import make_endpoint, make_funding, make_key, make_source, make_tenant
from tests.scenarios.product import running
from tests.servers import free_port
from webhooks import signing
from webhooks.models import ENDPOINTS_PER_TENANT_MAX, WebhookEndpoint

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
# Without `bank`: networks are polled here, there is no address somebody could post messages to.
GROUPS = "topup,json,http,auth,idem,fsid,list,flist,auto,link,manual,del,hook,magic,web,raw"
# Where the corpus and the contract differ, the contract wins.
KNOWN = {
    "auto-missing": "POST is a partial update, and an earlier case has set the amount",
    "hook-101": "it stands for 101 registrations; the cap has a test of its own, and were it "
    "reached here, every `hook` case would be refused for it",
}

# As deployed, but for the pace: the runner would soon be told to slow down.
SETTINGS = {
    "WEBHOOK_ALLOWED_NETWORKS": "",
    "API_READS_PER_SECOND": "1000",
    "API_WRITES_PER_SECOND": "1000",
}

STATE = """
SELECT (SELECT count(*) FROM funding_fundingtransaction),
    (SELECT count(*) FROM balance_transaction),
    (SELECT md5(string_agg(row::text, '' ORDER BY row.id)) FROM funding_fundingsource AS row),
    (SELECT md5(string_agg(row::text, '' ORDER BY row.id)) FROM webhooks_webhookendpoint AS row),
    (SELECT md5(string_agg(row::text, '' ORDER BY row.id)) FROM funding_autofundingconfig AS row),
    (SELECT md5(string_agg(row::text, '')) FROM balance AS row)
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not CORPUS.is_dir(), reason="the shared corpus is not beside this checkout"),
]


def prepare():
    """Two tenants with everything the corpus speaks of, by the names it uses."""
    now = utc_now()
    acme, rival = make_tenant(), make_tenant(name="Rival")
    empty, suspended = make_tenant(name="Empty"), make_tenant(name="Suspended")
    key, suspended_key = make_key(acme), make_key(suspended)
    accounts.suspend(tenant_id=suspended.pk, actor=SYSTEM, now=now)
    source = make_source(acme, account_number="987654321")
    removed = make_source(acme, account_number="555000111")
    sources.remove(tenant_id=acme.pk, source_id=removed.pk, actor=SYSTEM, now=now)
    secret = signing.new_secret()
    make_endpoint(acme, secret=secret)
    waiting = make_funding(
        acme,
        source,
        status=FundingStatus.AWAITING_CONFIRMATION,
        method=FundingMethod.ACH_DEBIT,
        confirmation_expires_at=now + timedelta(hours=1),
    )
    approval = approvals.request(funding=waiting, reason="Corpus", now=now)
    link = links.mint(POLICY, approval, approver_email=deciders.MADE_UP_APPROVER, now=now)
    token = link.rstrip("/").rsplit("/", 1)[1]
    return {
        "KEY": key,
        "KEY_B": make_key(rival),
        "KEY_READONLY": make_key(acme, scopes=["balance:read", "funding:read"]),
        "KEY_SUSPENDED": suspended_key,
        "KEY_NOSOURCE": make_key(empty),
        "KEY_PREFIX": key[:17],
        "KEY_FLIPPED": flip(key),
        "KEY_USED_IN_400": "used-before",
        "TENANT_B": rival.pk,
        "FS_A": source.pk,
        "FS_A_DELETED": removed.pk,
        "FS_B": make_source(rival).pk,
        "WEBHOOK_SECRET": secret,
        "CURSOR_A_TAMPERED": flip(_signed({"sequence": 1}, ["sequence"], "elsewhere")),
        "APPROVAL_PATH": "/confirm",
        "APPROVAL_TOKEN": f"{token}/",
        "APPROVAL_TOKEN_FLIPPED": f"{flip(token)}/",
        "SESSION_A": "0123456789abcdef0123456789abcdef",
        "CSRF": "0123456789abcdef0123456789abcdef",
        "EXPORT_B": "exp_1",
    }


def flip(text):
    """`text` with another last character."""
    return text[:-1] + ("A" if text[-1] != "A" else "B")


def snapshot_command():
    settings = connection.settings_dict
    host = settings["HOST"] or settings["OPTIONS"]["host"]
    where = f"host={host} user={settings['USER']}"
    psql = postgres.binaries(profile(os.environ["BALLAST_TEST_PROFILE"])) / "psql"
    return shlex.join([str(psql), f"dbname={settings['NAME']} {where}", "-tAc", STATE])


def test_nothing_breaks_and_nothing_is_half_done(tmp_path):
    # A template that was run would show 7 × 7; addresses in the answers name the port.
    port = next(port for port in iter(free_port, None) if "49" not in str(port))
    fixtures = tmp_path / "fixtures.json"
    fixtures.write_text(json.dumps(prepare()))

    with running(tmp_path, port, "valkey", "web", **SETTINGS) as product:
        done = subprocess.run(
            [
                sys.executable,
                str(CORPUS / "run_bad_inputs.py"),
                product.base_url,
                str(fixtures),
                f"--groups={GROUPS}",
                f"--snapshot={snapshot_command()}",
            ],
            capture_output=True,
            text=True,
            check=True,
        )

    *lines, last = done.stdout.strip().splitlines()
    violations = [line for line in lines if line.partition(" | ")[0] not in KNOWN]
    summary = json.loads(last)
    assert not violations, "\n".join(violations)
    assert summary["run"] > 190
    assert (summary["server_errors"], summary["skipped"]) == (0, 0)
    assert summary["errors_not_problem_json"] == 0
    assert WebhookEndpoint.objects.count() < ENDPOINTS_PER_TENANT_MAX  # none was refused for it
