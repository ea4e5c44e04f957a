"""`check_audit` names the first broken row, `export_audit` takes the log out and goes on later."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, transaction

from common.clock import utc_now
from seals import leaving
from seals.models import Seal
from tenants import actors
from tenants.models import User
from tests.corruption import tamper
from tests.seals.audit_lines import make_old, note
from tests.seals.conftest import seal

LATER = timedelta(minutes=10)


@pytest.fixture
def lines(acme):
    """Five lines about acme, sealed in two rounds; the ids, oldest first."""
    made = [note(acme, f"noted.{number}").pk for number in range(3)]
    seal()
    made += [note(acme, f"noted.{number}", at=utc_now() + 2 * LATER * 6).pk for number in range(2)]
    seal(ahead=timedelta(days=1))
    assert run() == {"rounds": 2, "ok": True, "firstBroken": None, "findings": []}
    return made


def run(*arguments):
    output = StringIO()
    call_command("check_audit", *arguments, "--json", stdout=output)
    return json.loads(output.getvalue())


def broken(*arguments):
    """What the command says first."""
    with pytest.raises(CommandError) as told:
        run(*arguments)
    return str(told.value).splitlines()[0]


def exported(*arguments):
    output = StringIO()
    call_command("export_audit", *arguments, stdout=output)
    return [json.loads(line) for line in output.getvalue().splitlines()]


class TestFirstBroken:
    def test_a_changed_row(self, acme, lines):
        tamper(f"UPDATE tenants_auditevent SET actor_id = 'usr_eve' WHERE id = '{lines[1]}'")

        assert broken().endswith(f"the first is {lines[1]}, which was changed")
        assert broken().startswith(f"seal_rows: {acme.pk} round 1: audit log from")

    def test_the_first_of_several(self, lines):
        tamper(f"DELETE FROM tenants_auditevent WHERE id IN ('{lines[4]}', '{lines[2]}')")

        assert broken().endswith(f"the first is {lines[2]}, which is gone")

    def test_an_added_row(self, acme, lines):
        columns = "tenant_id, actor_type, actor_id, action, subject_id, details, request_id"
        tamper(
            f"INSERT INTO tenants_auditevent (id, {columns}, created_at)"
            f" SELECT 'aud_0forged', {columns}, created_at FROM tenants_auditevent"
            f" WHERE id = '{lines[1]}'"
        )

        assert broken().endswith("the first is aud_0forged, which was added")

    def test_a_forged_list_of_rows_names_nothing(self, lines):
        tamper("UPDATE tenants_auditevent SET action = 'x' WHERE id = '" + lines[0] + "'")
        tamper("UPDATE seals_seal SET rows = jsonb_set(rows, '{audit,0,1}', to_jsonb('00'::text))")

        assert broken().endswith("what is here is not what was sealed (4 rows)")

    def test_seals_of_the_last_release_name_the_window(self, lines):
        tamper("UPDATE tenants_auditevent SET action = 'x' WHERE id = '" + lines[0] + "'")
        tamper("UPDATE seals_seal SET rows = NULL")

        assert broken().endswith("what is here is not what was sealed (4 rows)")

    def test_another_tenants_part_is_sound(self, acme, rival, lines):
        tamper("UPDATE tenants_auditevent SET action = 'x' WHERE id = '" + lines[0] + "'")

        assert run("--tenant", rival.pk)["ok"] is True
        assert lines[0] in broken("--tenant", acme.pk)

    def test_the_digests_say_nothing_about_the_rows(self, lines):
        stored = json.dumps(list(Seal.objects.values_list("rows", flat=True)))

        assert lines[0] in stored
        assert "noted" not in stored


class TestExport:
    def test_goes_on_after_the_last_line(self, acme, old):
        first = exported()
        assert [line["action"] for line in first] == ["tenant.created", "noted.0", "noted.1"]

        rest = exported("--after", first[1]["id"])

        assert rest == first[2:]
        assert rest[0] | {"id": "", "at": ""} == {
            "id": "",
            "at": "",
            "tenantId": acme.pk,
            "actorType": "system",
            "actorId": "",
            "actor": "Ballast",
            "action": "noted.1",
            "subjectId": "",
            "subject": "",
            "details": {},
            "staffNote": "",
            "address": "",
            "requestId": "",
        }

    def test_pages_leave_nothing_out(self, old, monkeypatch):
        monkeypatch.setattr(leaving, "PAGE", 2)

        assert len(exported()) == 3

    def test_a_line_that_may_not_be_complete_waits(self, acme, old):
        note(acme, "noted.just.now")

        assert [line["action"] for line in exported()][-1] == "noted.1"

    def test_who_left_the_staff_still_has_a_name(self, acme):
        person = User.objects.create_user(email="sam@staff.example", is_staff=True)
        note(acme, "noted", actor=actors.staff(person.pk))
        User.objects.filter(pk=person.pk).update(is_staff=False, is_active=False)
        make_old()

        assert (exported()[-1]["actorId"], exported()[-1]["actor"]) == (
            person.pk, "sam@staff.example",
        )  # fmt: skip

    def test_the_product_cannot_forget_a_person(self, db):
        person = User.objects.create_user(email="sam@staff.example", is_staff=True)

        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            User.objects.filter(pk=person.pk)._raw_delete("default")
        assert User.objects.filter(pk=person.pk).exists()

    def test_refuses_what_is_no_id(self, db):
        with pytest.raises(CommandError, match="begin with aud_"):
            exported("--after", "ftx_1")


@pytest.fixture
def old(acme):
    """Two lines about acme after the first one, all old enough to leave."""
    for number in range(2):
        note(acme, f"noted.{number}")
    make_old()
