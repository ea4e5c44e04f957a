"""`manage.py check_messages`"""

from __future__ import annotations

import json
import shutil
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from networks.instant.iso.profiles import FEDNOW, PROFILES, RTP
from networks.instant.iso.validation import OURS
from tests.networks.instant.iso.messages import EVERY, message, written

GOOD = written(message("pacs.008", RTP), RTP)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "messages"
    folder.mkdir()
    return folder


def checked(folder, *options):
    """What the command says, and its status."""
    output = StringIO()
    status: Any = 0
    try:
        call_command("check_messages", *options, "--json", str(folder), stdout=output)
    except SystemExit as end:
        status = end.code
    return json.loads(output.getvalue()), status


def test_every_message_that_we_write_is_valid(folder):
    for name, kind in EVERY:
        content = written(message(kind, PROFILES[name]), PROFILES[name])
        (folder / f"{name}-{kind}.xml").write_bytes(content)

    said, status = checked(folder)

    assert (said["ok"], said["messages"], said["invalid"], status) == (True, len(EVERY), 0, 0)
    assert said["files"][0] == {
        "file": "fednow-admi.002.xml",
        "message": "admi.002.001.01",
        "valid": True,
        "faults": [],
    }


def test_says_what_is_wrong_where_without_what_the_message_says(folder):
    (folder / "a.xml").write_bytes(GOOD)
    (folder / "b.xml").write_bytes(
        GOOD.replace(b">40001<", b">40001400014000140001400014000140001<")
    )
    (folder / "c.xml").write_bytes(b"<!DOCTYPE a><a/>")
    (folder / "d.xml").write_bytes(b"<a/>")
    (folder / "notes.txt").write_bytes(b"no message")

    said, status = checked(folder)

    assert (said["ok"], said["messages"], said["invalid"], status) == (False, 4, 3, 1)
    assert [(each["message"], each["valid"]) for each in said["files"]] == [
        ("pacs.008.001.08", True),
        ("pacs.008.001.08", False),
        ("", False),
        ("", False),
    ]
    assert [each["faults"] for each in said["files"][1:]] == [
        [
            {
                "code": "value_too_long",
                "element": "Id",
                "detail": "A value is longer than it may be (Id).",
            }
        ],
        [
            {
                "code": "doctype_refused",
                "element": "",
                "detail": "The message declares a document type.",
            }
        ],
        [
            {
                "code": "schema_missing",
                "element": "",
                "detail": "No schema that was given is for this message.",
            }
        ],
    ]
    assert "40001" not in json.dumps(said)


class TestSchemasOfAnOperator:
    def test_judge_instead_of_ours(self, folder, tmp_path):
        schemas = tmp_path / "schemas"
        shutil.copytree(OURS, schemas)
        stricter = schemas / "rtp" / "pacs.008.001.08.xsd"
        stricter.write_text(stricter.read_text().replace('value="CLRG"', 'value="INDA"'))
        (folder / "a.xml").write_bytes(GOOD)

        assert checked(folder)[1] == 0
        said, status = checked(folder, "--schemas", str(schemas / "rtp"))
        assert status == 1
        assert [(each["code"], each["element"]) for each in said["files"][0]["faults"]] == [
            ("value_unknown", "SttlmMtd")
        ]

    def test_of_another_network_judge_nothing(self, folder):
        (folder / "a.xml").write_bytes(written(message("pacs.004", FEDNOW), FEDNOW))

        said, status = checked(folder, "--schemas", str(OURS / "rtp"))

        assert status == 1
        assert said["files"][0]["faults"][0]["code"] == "schema_missing"

    def test_of_a_message_judge_it_without_one_of_the_envelope(self, folder, tmp_path):
        schemas = tmp_path / "schemas"
        shutil.copytree(OURS / "fednow", schemas / "fednow")
        shutil.copy(OURS / "common.xsd", schemas)
        for name in ("incoming", "outgoing", "wrappers"):
            (schemas / "fednow" / f"{name}.xsd").unlink()
        good = written(message("pacs.004", FEDNOW), FEDNOW)
        (folder / "a.xml").write_bytes(good)
        (folder / "b.xml").write_bytes(good.replace(b">4.99<", b">4.999<"))
        (folder / "c.xml").write_bytes(good.replace(b"<To>", b"<Too>").replace(b"</To>", b"</Too>"))

        said, status = checked(folder, "--schemas", str(schemas))

        assert status == 1
        faults = [[each["code"] for each in file["faults"]] for file in said["files"]]
        assert faults == [[], ["amount_decimals"], ["element_unexpected"]]

    def test_a_document_without_an_envelope_is_judged(self, folder):
        good = written(message("pacs.004", FEDNOW), FEDNOW)
        document = good[good.index(b"<Document") : good.index(b"</FedNowPaymentReturn>")]
        (folder / "a.xml").write_bytes(document)

        assert checked(folder, "--schemas", str(OURS / "fednow"))[1] == 0

    def test_of_several_the_kindest_counts(self, folder, tmp_path):
        schemas = tmp_path / "schemas"
        shutil.copytree(OURS, schemas)
        first = schemas / "fednow" / "a.xsd"
        other = (schemas / "fednow" / "incoming.xsd").read_text()
        first.write_text(other.replace('type="Wrapped"', 'type="xs:int"'))
        (folder / "a.xml").write_bytes(written(message("pacs.004", FEDNOW), FEDNOW))

        assert checked(folder, "--schemas", str(schemas / "fednow"))[1] == 0


class TestWhatCannotBeChecked:
    @pytest.mark.parametrize(
        ("make", "advice"),
        [
            (lambda path: None, "has no schemas"),
            (lambda path: (path / "a.xsd").write_text("<a/>"), "is no schema"),
            (lambda path: (path / "a.xsd").write_text("<a"), "cannot be read"),
            (
                lambda path: shutil.copy(OURS / "rtp" / "envelope.xsd", path),
                "put the schemas that it includes",
            ),
        ],
        ids=["none", "no_schema", "no_xml", "alone"],
    )
    def test_schemas(self, folder, tmp_path, make, advice):
        schemas = tmp_path / "schemas"
        schemas.mkdir()
        make(schemas)
        (folder / "a.xml").write_bytes(GOOD)

        with pytest.raises(CommandError, match=advice):
            call_command("check_messages", "--schemas", str(schemas), str(folder))

    def test_a_folder_that_holds_nothing(self, folder):
        with pytest.raises(CommandError, match="holds no messages"):
            call_command("check_messages", str(folder))

    def test_a_folder_that_is_none(self, folder):
        with pytest.raises(CommandError, match="is no folder"):
            call_command("check_messages", str(folder / "a"))
