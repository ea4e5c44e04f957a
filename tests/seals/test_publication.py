"""The chains' ends outside of the database, and what they prove."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core import mail
from django.core.management import CommandError, call_command

from balance import invariants
from common.clock import utc_now
from config import metrics
from seals import publication, published, tasks
from seals.models import PublishedWay, Seal, SealPublication, SealRound
from tests.corruption import tamper
from tests.receivers import Receiver
from tests.seals.conftest import ROWS_OF_TENANTS, found, query, seal
from webhooks import signing

pytestmark = pytest.mark.slow  # each of them seals a whole past

SECRET = "whsec_" + "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"


@pytest.fixture
def file(settings, tmp_path):
    settings.SEAL_FILE = str(tmp_path / "seals.jsonl")
    return tmp_path / "seals.jsonl"


@pytest.fixture
def told(past, file):
    """Two rounds, each of them published."""
    for hour in (1, 2):
        seal(ahead=timedelta(hours=hour))
        publication.publish(now=utc_now() + timedelta(hours=hour))
    return past


def run(*arguments):
    output = StringIO()
    try:
        call_command("check_seals", *arguments, "--json", stdout=output)
    except CommandError as error:
        return str(error)
    return json.loads(output.getvalue())


def forget_everything():
    for table in ("seals_seal", "seals_sealround", "seals_sealpublication"):
        tamper(f"DELETE FROM {table}")


class TestFile:
    def test_gets_a_line_an_hour(self, told, file, rival):
        first, second = map(json.loads, file.read_text().splitlines())

        assert (first["kind"], first["round"], first["chains"]) == ("ballast.sealed", 1, 3)
        assert first["mac"] == SealRound.objects.get(number=1).mac
        heads = {
            chain: [number, mac]
            for chain, number, mac in Seal.objects.values_list("chain", "number", "mac")
        }
        assert first["heads"] == heads
        assert (second["round"], second["heads"], second["hasMoreHeads"]) == (2, {}, False)
        assert file.stat().st_mode & 0o777 == 0o640

    def test_a_chain_that_was_cut_off_is_found(self, told, file):
        tamper("DELETE FROM seals_sealround WHERE number = 2")

        assert (
            run("--published", str(file)) == "seal_cut: operator round 2: was published and is gone"
        )
        assert found() == []  # from inside nobody sees it

    def test_everything_made_anew_is_found(self, told, file, rival):
        """All seals gone, a tenant too, and sealed again, with the key."""
        forget_everything()
        for table in ROWS_OF_TENANTS:
            tamper(f"DELETE FROM {table} WHERE tenant_id = '{rival.pk}'")
        tamper(f"DELETE FROM tenants_tenant WHERE id = '{rival.pk}'")
        seal()
        assert found() == []

        said = run("--published", str(file))

        assert "round 1: was published and is another one" in said
        assert f"seal_cut: {rival.pk} seal 1: was published and is gone" in said

    def test_the_check_compares_its_own_file(self, told, file):
        assert self.codes() == set()
        tamper("DELETE FROM seals_sealround WHERE number = 2")

        assert self.codes() == {"seal_cut"}

    @staticmethod
    def codes():
        findings = invariants.check(now=utc_now()).findings
        return {finding.code for finding in findings if finding.code.startswith("seal_")}

    def test_only_the_end_of_a_long_file_is_read(self, told, file, monkeypatch):
        monkeypatch.setattr(published, "OWN_BYTES_MAX", 700)
        file.write_text("not a line of ours\n" + file.read_text())

        assert list(published.check_own_file()) == []
        assert "line 1 is no published seal" in run("--published", str(file))

    @pytest.mark.parametrize("path", ["/nowhere/at/all", "."])
    def test_that_cannot_be_written_is_noted_and_tried_again(self, past, settings, path, log):
        seal()
        settings.SEAL_FILE = path

        assert publication.publish(now=utc_now()) == 0

        noted = SealPublication.objects.get()
        assert noted.error.startswith(("FileNotFoundError", "IsADirectoryError"))
        assert len(log.of("seal_not_published")) == 1

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("{}", "line 1 is no published seal"),
            ("[1]", "line 1 is no published seal"),
            ('{"kind": "ballast.sealed", "round": 1, "mac": "x"}', "line 1 is no published seal"),
            ('{"kind": "other", "round": 1}', "line 1 is no published seal"),
            ("\n\x00", "line 2 is no published seal"),
        ],
    )
    def test_with_other_lines_is_refused(self, db, tmp_path, text, said):
        path = tmp_path / "f"
        path.write_text(text)

        assert said in run("--published", str(path))

    def test_that_is_not_there_is_refused(self, db):
        assert "/nowhere cannot be compared" in run("--published", "/nowhere")


class TestRestore:
    def test_an_older_backup_is_found_until_somebody_says_so(self, told, file):
        tamper("DELETE FROM seals_sealround WHERE number = 2")
        assert "round 2: was published and is gone" in run("--published", str(file))

        call_command("publish_seals", "--restored", "Disk of 22 November", stdout=StringIO())
        seal(ahead=timedelta(hours=3))
        publication.publish(now=utc_now() + timedelta(hours=3))

        assert run("--published", str(file))["ok"] is True
        kinds = [
            json.loads(line)["kind"].removeprefix("ballast.")
            for line in file.read_text().splitlines()
        ]
        assert kinds == ["sealed", "sealed", "restored", "sealed", "sealed"]

    def test_the_chain_goes_on_after_it(self, told):
        tamper("DELETE FROM seals_sealround WHERE number = 2")

        seal(ahead=timedelta(hours=3))

        assert found() == []
        assert query("SELECT max(number) FROM seals_sealround") == [(2,)]

    def test_needs_a_reason_and_somewhere_to_say_it(self, told, settings):
        with pytest.raises(CommandError, match="Say why"):
            call_command("publish_seals", "--restored", " ")
        settings.SEAL_FILE = ""
        with pytest.raises(CommandError, match="Set SEAL_FILE"):
            call_command("publish_seals")


class TestWebhook:
    def test_is_signed(self, past, settings):
        with Receiver() as receiver:
            settings.SEAL_WEBHOOK_URL, settings.SEAL_WEBHOOK_SECRET = receiver.url(), SECRET
            seal()
            assert publication.publish(now=utc_now()) == 1
            (request,) = receiver.requests

        assert json.loads(request.body)["round"] == 1
        assert request.headers["x-webhook-signature"] == signing.hex_signature(SECRET, request.body)
        assert request.headers["webhook-id"].startswith("seal_1_")

    def test_that_is_down_waits_for_the_next_hour(self, past, settings, port):
        settings.SEAL_WEBHOOK_URL = f"http://127.0.0.1:{port}/"
        settings.SEAL_WEBHOOK_SECRET = SECRET
        seal()
        now = utc_now()

        assert publication.publish(now=now) == 0

        assert SealPublication.objects.get().error == "NotTaken: connection_failed"
        with Receiver() as receiver:
            settings.SEAL_WEBHOOK_URL = receiver.url()
            publication.publish(now=now + timedelta(hours=1))
            (request,) = receiver.requests
        assert len(json.loads(request.body)["heads"]) == 3


class TestMail:
    def test_has_a_line_to_compare_with(self, past, settings, tmp_path):
        settings.SEAL_MAIL_TO = "books@operator.example"
        seal()

        assert publication.publish(now=utc_now()) == 1

        (message,) = mail.outbox
        assert message.to == ["books@operator.example"]
        assert message.subject == "The books are sealed up to round 1"
        line = next(line for line in message.body.splitlines() if line.startswith("{"))
        path = tmp_path / "mail"
        path.write_text(line)
        assert run("--published", str(path))["ok"] is True
        assert SealRound.objects.get().mac in str(message.message())


class TestEdges:
    def test_beat_seals_and_publishes(self, past, file):
        tasks.seal_due()
        tasks.publish()

        assert json.loads(file.read_text())["round"] == 1

    def test_nothing_is_published_before_the_first_round(self, db, file):
        assert publication.publish(now=utc_now()) == 0
        assert not file.exists()

    def test_ways_are_those_that_are_set(self, settings):
        assert publication.ways() == []
        settings.SEAL_FILE = settings.SEAL_MAIL_TO = "x"
        assert publication.ways() == [PublishedWay.FILE, PublishedWay.MAIL]

    def test_metrics_say_how_old_it_is(self, told):
        families = {each.name: each for each in metrics._seals(utc_now() + timedelta(hours=3))}

        (age,) = families["ballast_seal_age_seconds"].samples
        (taken,) = families["ballast_seal_published_age_seconds"].samples
        assert 3_800 < age.value < 4_000
        assert (taken.labels, 3500 < taken.value < 3700) == ({"way": "file"}, True)

    def test_many_heads_are_cut_and_said_to_be(self, past, file, monkeypatch):
        monkeypatch.setattr(publication, "HEADS_MAX", 1)
        seal()

        publication.publish(now=utc_now())

        line = json.loads(file.read_text())
        assert (len(line["heads"]), line["hasMoreHeads"], line["chains"]) == (1, True, 3)
