"""An instant rail by commands of one operator."""

from __future__ import annotations

import json
import sys
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from common.clock import utc_now
from networks.instant import certificates, rails
from networks.instant.models import InstantKey, InstantRail, InstantVersion
from networks.rails.models import Rail
from tenants.models import ActorType, AuditEvent

pytestmark = pytest.mark.django_db
WHO = ("--operator", "Olga", "--reason", "First bank")
NEW = ("--profile", "fednow", "--kind", "real")
TERMS = {
    "participant": "124000313",
    "routing_number": "124000313",
    "creditor_name": "Ballast Inc.",
    "connection": {"base_url": "https://bank.example/fednow", "pins": ["ab" * 32]},
}


def run(*arguments):
    out = StringIO()
    call_command(*arguments, *WHO, "--json", stdout=out)
    return json.loads(out.getvalue())


@pytest.fixture
def terms_file(tmp_path):
    path = tmp_path / "terms.json"
    path.write_text(json.dumps(TERMS))
    return str(path)


@pytest.fixture
def typed(monkeypatch):
    """Somebody types the account's number."""
    monkeypatch.setattr(sys, "stdin", StringIO("4000323456\n"))


class TestRail:
    def test_is_made_with_its_terms(self, terms_file, typed):
        told = run("instant_rail", "fednow_one", *NEW, "--terms", terms_file, "--account")

        assert (told["rail"], told["version"]) == ("fednow_one", 1)
        assert "Our name: Ballast Inc." in told["changed"]
        assert "4000323456" not in json.dumps(told)
        version = InstantVersion.objects.get()
        assert (version.status, version.by_command, version.decided_by) == ("current", True, "Olga")
        assert (version.account, Rail.objects.get(pk="fednow_one").kind) == ("4000323456", "real")
        actions = AuditEvent.objects.filter(subject_id="fednow_one").order_by("pk")
        assert [event.action for event in actions] == ["rail.opened", "rail.changed"]
        event = AuditEvent.objects.get(action="rail.changed")
        assert (event.actor_type, event.details["operator"]) == (ActorType.SYSTEM, "Olga")
        assert event.details["number"] == 1
        assert event.staff_note == "First bank"

    def test_is_opened_for_two_people_to_agree(self):
        assert run("instant_rail", "fednow_one", *NEW) == {"rail": "fednow_one", "version": None}

        assert InstantRail.objects.get().profile == "fednow"
        assert not InstantVersion.objects.exists()

    def test_is_changed_term_by_term(self, terms_file, typed):
        run("instant_rail", "fednow_one", *NEW, "--terms", terms_file, "--account")

        told = run(
            "instant_rail", "fednow_one", "--set", "active=true", "--set", "connection.timeout=7"
        )

        assert told["changed"] == [
            "Takes new orders: No → Yes",
            "Time without an answer: 5 s → 7 s",
        ]

        terms = rails.current("fednow_one").terms
        assert (terms.active, terms.connection.timeout.total_seconds()) == (True, 7)
        assert rails.current("fednow_one").account == "4000323456"

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (NEW, "our own account"),
            ((), "Say which network"),
            ((*NEW, "--set", "tries_unknown=0"), "tries_unknown: is a whole number"),
            ((*NEW, "--set", "nonsense=1"), "nonsense: is no term"),
        ],
    )
    def test_is_not_made_of_what_cannot_be(self, terms_file, arguments, told):
        with pytest.raises(CommandError, match=told):
            run("instant_rail", "fednow_one", "--terms", terms_file, *arguments)

        assert not InstantRail.objects.exists()
        assert not AuditEvent.objects.filter(action="rail.opened").exists()


class TestKey:
    @pytest.fixture(autouse=True)
    def rail(self):
        run("instant_rail", "fednow_one", *NEW)

    def test_is_made_switched_to_and_retired(self):
        first, second = (run("instant_key", "fednow_one") for _ in range(2))
        assert (first["isUsed"], second["isUsed"]) == (True, False)
        assert "BEGIN CERTIFICATE REQUEST" in first["signingRequest"]
        assert "PRIVATE" not in json.dumps(first)

        assert run("instant_key", "fednow_one", "--switch") == {**second, "isUsed": True}
        assert run("instant_key", "fednow_one", "--retire") == {**first, "isUsed": False}

        done = AuditEvent.objects.filter(action__startswith="rail.key_").order_by("pk")
        assert [event.action.partition("_")[2] for event in done] == [
            "made",
            "made",
            "switched",
            "retired",
        ]
        assert done[3].details["fingerprint"] == first["fingerprint"]

    def test_is_taken_with_its_certificate(self, tmp_path):
        pair = certificates.make("elsewhere", now=utc_now())
        private, certificate = tmp_path / "key.pem", tmp_path / "crt.pem"
        private.write_text(pair.private_key)
        certificate.write_text(pair.certificate)
        files = ("--private-key", str(private), "--certificate", str(certificate))

        told = run("instant_key", "fednow_one", *files)

        assert (told["isUsed"], told["fingerprint"]) == (True, pair.fingerprint)
        assert InstantKey.objects.get().certificate == pair.certificate
        with pytest.raises(CommandError, match="alone, or with"):
            run("instant_key", "fednow_one", "--switch", *files)
        with pytest.raises(CommandError, match="alone, or with"):
            run("instant_key", "fednow_one", *files[:2])
        with pytest.raises(CommandError, match="there already"):
            run("instant_key", "fednow_one", *files[2:])
        with pytest.raises(CommandError, match="cannot be read as PEM"):
            run("instant_key", "fednow_one", "--certificate", str(tmp_path / "none"))
        assert InstantKey.objects.count() == 1
