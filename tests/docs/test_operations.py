"""What the pages for those who run Ballast name exists: commands, settings, metrics, files."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from balance import invariants
from common.clock import utc_now
from networks.ach.terms import RailTerms
from seals import rounds
from tests.builders import ApiClient

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    str(path.relative_to(ROOT)) for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))
)
COMMAND = re.compile(r"(?:manage\.py|\./run manage) ([a-z_]+)([^`\n]*)")
LINK = re.compile(r"\]\(([^)#\s]*)(#[^)\s]*)?\)")


def text(page):
    return (ROOT / page).read_text()


def commands():
    return sorted(
        {
            (page, name, " ".join(re.findall(r"--[a-z-]+", rest)))
            for page in PAGES
            for name, rest in COMMAND.findall(text(page))
        }
    )


@pytest.mark.parametrize(("page", "name", "options"), commands())
def test_commands_and_their_options_exist(page, name, options):
    command = load_command_class(get_commands()[name], name)
    known = command.create_parser("manage.py", name)._option_string_actions

    assert set(options.split()) <= set(known)


def test_the_example_of_terms_makes_a_rail_that_takes_no_entries():
    (example,) = re.findall(r"```json\n(.*?)```", text("docs/operations.md"), re.DOTALL)

    terms = RailTerms.parse(json.loads(example))

    assert terms.connection.host == "sftp.first.example"
    assert not terms.active


def test_settings_exist():
    settings = set(re.findall(r"^([A-Z_]+)=", text(".env.example"), re.MULTILINE))
    named = set(
        re.findall(r"`([A-Z]+(?:_[A-Z]+)+)[`=]", text("docs/operations.md") + text("SECURITY.md"))
    )

    assert len(named) > 10
    assert named <= settings


@pytest.mark.django_db
def test_metrics_exist(settings):
    settings.METRICS_TOKEN = "t0ken"
    importlib.import_module("webhooks.metrics")  # as every process that delivers does
    invariants.check(now=utc_now())
    rounds.seal_due(now=utc_now())
    exported = ApiClient().get("/metrics", headers={"Authorization": "Bearer t0ken"})
    known = re.findall(r"^# HELP (\w+)", exported.content.decode(), re.MULTILINE)
    named = set(re.findall(r"\b(?:ballast|django)_[a-z_]+", text("docs/operations.md")))

    assert len(named) > 6
    assert named <= set(known)


def anchors(page):
    headings = re.findall(r"^#+ (.+)$", text(page), re.MULTILINE)
    return {"#" + re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-") for name in headings}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for path, anchor in LINK.findall(text(page)):
        if "://" in path or path.startswith(("mailto:", "/")):
            continue
        target = ((ROOT / page).parent / path).resolve() if path else ROOT / page
        assert target.exists(), path
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target.relative_to(ROOT)), anchor
