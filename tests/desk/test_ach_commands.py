"""An operator with one member of staff: what two people would do at the desk, by a command."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from common import crypto
from desk.rails import host_keys
from networks.ach.models import AchKey, AchRail, Originator, OutFile, RailVersion
from networks.ach.sftp import keys
from networks.rails.models import Rail
from tenants.models import ActorType, AuditEvent
from tests.builders import NOW
from tests.desk.ach import RAIL, TERMS, make_rail
from tests.desk.test_rails import HOST_KEY
from tests.networks.ach import builders, life

pytestmark = pytest.mark.django_db
WHO = ("--operator", "Olga", "--reason", "First bank")


def run(*arguments):
    out = StringIO()
    call_command(*arguments, *WHO, "--json", stdout=out)
    return json.loads(out.getvalue())


@pytest.fixture
def terms_file(tmp_path):
    def written(**changes):
        path = tmp_path / "terms.json"
        path.write_text(json.dumps({**TERMS, **changes}))
        return str(path)

    return written


class TestRail:
    def test_is_made_from_a_file(self, terms_file):
        told = run("ach_rail", RAIL, "--kind", "real", "--terms", terms_file())

        version = RailVersion.objects.get()
        assert (told["rail"], told["version"]) == (RAIL, 1)
        assert (Rail.objects.get(pk=RAIL).kind, Rail.objects.get(pk=RAIL).driver) == ("real", "ach")
        assert (version.status, version.by_command, version.decided_by) == ("current", True, "Olga")
        event = AuditEvent.objects.get(action="rail.changed")
        assert (event.actor_type, event.details["operator"]) == (ActorType.SYSTEM, "Olga")
        assert event.staff_note == "First bank"

    def test_is_changed_term_by_term(self):
        make_rail()

        told = run("ach_rail", RAIL, "--set", "auto_release_below=500000", "--set", "lead=600")

        assert told == {
            "rail": RAIL,
            "version": 2,
            "changed": [
                "Frozen before a cut-off: 15 min → 10 min",
                "Released by itself below: Never → $5,000.00",
            ],
        }
        assert [row.status for row in RailVersion.objects.order_by("number")] == [
            "superseded",
            "current",
        ]

    @pytest.mark.parametrize("name", ["usr_01kaj9s3", " USR_x", "key_01kaj9s3", "system"])
    def test_is_changed_under_nobody_elses_name(self, name):
        make_rail()

        with pytest.raises(CommandError, match="Enter your own name"):
            call_command(
                "ach_rail", RAIL, "--set", "lead=600", "--operator", name, "--reason", "Mine"
            )
        assert RailVersion.objects.count() == 1

    @pytest.mark.parametrize("setting", ["company_id=0987654321", 'company_id="0987654321"'])
    def test_takes_digits_for_a_text_where_one_stood(self, setting):
        make_rail()

        run("ach_rail", RAIL, "--set", setting)

        assert RailVersion.objects.get(status="current").terms["company_id"] == "0987654321"

    @pytest.mark.parametrize(
        ("setting", "told"),
        [
            ("lead=-1", "lead: is 0 to 4 hours"),
            ("nonsense=1", "nonsense: is no term"),
            ("lead", "write NAME=VALUE"),
            ("connection.host.x=1", "host has no parts"),
        ],
    )
    def test_refuses_what_cannot_be(self, setting, told):
        make_rail(connection={"host": "a.example", "user": "u", "host_keys": [HOST_KEY]})

        with pytest.raises(CommandError, match=told):
            run("ach_rail", RAIL, "--set", setting)

        assert RailVersion.objects.count() == 1

    @pytest.mark.parametrize("name", ["A", "1st", "first bank", "x" * 17, "", "ä"])
    def test_has_a_plain_name(self, name, terms_file):
        with pytest.raises(CommandError, match="A name has up to 16"):
            run("ach_rail", name, "--kind", "real", "--terms", terms_file())

    def test_says_at_first_whether_money_moves(self, terms_file):
        with pytest.raises(CommandError, match="real or stand_in"):
            run("ach_rail", RAIL, "--terms", terms_file())

        assert not AchRail.objects.exists()

    def test_takes_no_name_of_another_network(self, terms_file):
        with pytest.raises(CommandError, match="another kind has this name"):
            run("ach_rail", "sandbox", "--kind", "stand_in", "--terms", terms_file())

    @pytest.mark.parametrize(("kind", "is_taken"), [("real", True), ("stand_in", False)])
    def test_meets_no_rail_of_the_other_kind_at_its_bank(self, terms_file, kind, is_taken):
        """Sandbox tenants make up their money."""
        file = terms_file(
            connection={"host": "sftp.bank.com", "user": "us", "host_keys": [HOST_KEY]}
        )
        run("ach_rail", "money", "--kind", "real", "--terms", file)

        if is_taken:
            run("ach_rail", "second", "--kind", kind, "--terms", file)
        else:
            with pytest.raises(CommandError, match="money signs in there"):
                run("ach_rail", "second", "--kind", kind, "--terms", file)

        assert AchRail.objects.filter(pk="second").exists() is is_taken

    def test_needs_all_terms_at_first(self):
        with pytest.raises(CommandError, match="give all of them"):
            run("ach_rail", RAIL)

    def test_is_not_made_of_a_list(self, tmp_path):
        (tmp_path / "terms.json").write_text("[]")

        with pytest.raises(CommandError, match="holds no JSON object"):
            run("ach_rail", RAIL, "--terms", str(tmp_path / "terms.json"))

    @pytest.mark.parametrize("missing", ["--operator", "--reason"])
    def test_asks_who_and_why(self, missing, terms_file):
        given = [part for pair in zip(WHO[::2], WHO[1::2], strict=True) for part in pair]
        given[given.index(missing) + 1] = "  "

        with pytest.raises(CommandError, match="say something"):
            call_command("ach_rail", RAIL, "--terms", terms_file(), *given)

        assert not RailVersion.objects.exists()


class TestOriginator:
    def test_is_given_to_a_tenant_and_changed(self, acme):
        make_rail()
        run(
            "ach_originator",
            RAIL,
            "--tenant",
            acme.pk,
            "--company-name",
            "ACME",
            "--company-id",
            "77",
            "--daily-debit-max",
            "5,000.00",
        )

        run("ach_originator", RAIL, "--tenant", acme.pk, "--exposure-max", "9,000")

        row = Originator.objects.get(tenant_id=acme.pk)
        assert (row.company_name, row.daily_debit_max, row.exposure_max) == (
            "ACME",
            500_000,
            900_000,
        )
        assert AuditEvent.objects.filter(details__tenantId=acme.pk).count() == 2

    def test_ends(self):
        make_rail()

        run("ach_originator", RAIL, "--end")

        assert Originator.objects.get().ended_at is not None

    def test_lets_stopped_debits_go_on(self):
        make_rail()
        Originator.objects.update(debits_stopped_at=NOW, debits_stopped_why="3 of 200 came back")

        run("ach_originator", RAIL, "--release-debits")

        assert Originator.objects.get().debits_stopped_at is None
        event = AuditEvent.objects.get(action="originator.debits_went_on")
        assert event.details["why"] == "3 of 200 came back"

    def test_needs_a_name(self, acme):
        make_rail()

        with pytest.raises(CommandError, match="--company-name"):
            run("ach_originator", RAIL, "--tenant", acme.pk)


class TestFile:
    @pytest.mark.parametrize(
        ("option", "status", "temporary"),
        [("--at-bank", "sent", "a.tmp"), ("--not-at-bank", "released", "")],
    )
    def test_in_doubt_is_decided_by_one_operator(self, option, status, temporary):
        builders.make_rail()
        builders.make_originator()
        (file,) = builders.make_files(1)
        life.release(file, builders.FREEZE)
        OutFile.objects.update(
            temporary_name="a.tmp",
            stuck_code="delivery_unknown",
            stuck_at=builders.FREEZE,
            next_attempt_at=None,
        )

        run("ach_file", file.pk, option)

        file.refresh_from_db()
        assert (file.status, file.temporary_name) == (status, temporary)
        action = option.strip("-").replace("-", "_")
        assert AuditEvent.objects.filter(action=f"ach_file.{action}", subject_id=file.pk).exists()


class TestKey:
    def test_is_made_and_only_its_public_part_is_told(self):
        make_rail()

        told = run("ach_key", RAIL)

        key = AchKey.objects.get()
        private = crypto.decrypt(key.private_key_token, context=key.encryption_context)
        assert told == {
            "rail": RAIL,
            "publicKey": key.public_key,
            "fingerprint": host_keys.fingerprint(key.public_key),
            "isUsed": True,
        }
        assert keys.read_client_key(private.encode()).public.text == key.public_key
        event = AuditEvent.objects.get(action="rail.key_made")
        assert event.details == {"fingerprint": key.fingerprint, "operator": "Olga"}

    def test_waits_in_the_second_slot_until_it_is_switched_to_and_the_old_one_retired(self):
        make_rail()
        first = run("ach_key", RAIL)
        assert first["isUsed"]

        second = run("ach_key", RAIL)
        assert not second["isUsed"]
        with pytest.raises(CommandError, match="There is a second key already"):
            run("ach_key", RAIL)

        switched = run("ach_key", RAIL, "--switch")
        assert (switched["fingerprint"], switched["isUsed"]) == (second["fingerprint"], True)
        retired = run("ach_key", RAIL, "--retire")
        assert (retired["fingerprint"], retired["isUsed"]) == (first["fingerprint"], False)
        assert AchKey.objects.get(retired_at=None).fingerprint == second["fingerprint"]
        assert AchKey.objects.get(retired_by="Olga").fingerprint == first["fingerprint"]
        done = AuditEvent.objects.filter(action__startswith="rail.key_").order_by("id")
        assert [(row.action, row.details["fingerprint"]) for row in done] == [
            ("rail.key_made", first["fingerprint"]),
            ("rail.key_made", second["fingerprint"]),
            ("rail.key_switched", second["fingerprint"]),
            ("rail.key_retired", first["fingerprint"]),
        ]

    def test_goes_back_to_the_one_before(self):
        make_rail()
        first = run("ach_key", RAIL)["fingerprint"]
        run("ach_key", RAIL)
        run("ach_key", RAIL, "--switch")

        assert run("ach_key", RAIL, "--switch")["fingerprint"] == first

    @pytest.mark.parametrize("act", ["--switch", "--retire"])
    def test_that_is_not_there_is_neither_used_nor_retired(self, act):
        make_rail()
        run("ach_key", RAIL)

        with pytest.raises(CommandError, match="There is no second key"):
            run("ach_key", RAIL, act)

    def test_takes_the_place_of_all_others_if_asked(self):
        make_rail()
        former = {run("ach_key", RAIL)["fingerprint"], run("ach_key", RAIL)["fingerprint"]}

        told = run("ach_key", RAIL, "--replace")

        assert told["isUsed"]
        assert AchKey.objects.get(retired_at=None).fingerprint == told["fingerprint"]
        retired = AchKey.objects.filter(retired_by="Olga")
        assert set(retired.values_list("fingerprint", flat=True)) == former
