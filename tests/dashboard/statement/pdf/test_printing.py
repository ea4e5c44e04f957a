"""The program that typesets: what it can print, and what it cannot reach."""

from __future__ import annotations

import random
import subprocess
import sys
import unicodedata
from datetime import UTC, datetime
from io import BytesIO
from itertools import chain

import pytest
from pypdf import PdfReader

from dashboard.statement.pdf import printing
from dashboard.statement.pdf.characters import PRINTED_RANGES, STAND_IN, printable
from dashboard.statement.pdf.printing import NotPrinted

AT = datetime(2026, 11, 20, 15, 0, tzinfo=UTC)


def filled(texts):
    """A statement whose lines say this."""
    line = {"date": "", "time": "", "kind": "", "id": "", "parts": []}
    amounts = {"available": "", "locked": "", "after": ""}
    return {
        "title": "Statement",
        "operator": {"name": "", "address": ""},
        "tenant": {"name": "", "id": ""},
        "period": "",
        "created": "",
        "notes": [],
        "footer": "",
        "summary": [["", "", "", ""]],
        "lines": [line | amounts | {"main": text} for text in texts],
        "checks": [],
        "facts": [],
        "csv": "https://ballast.example",
    }


def printed(texts):
    pdf = printing.typeset("statement.typ", filled(texts), at=AT)
    pages = PdfReader(BytesIO(pdf)).pages
    return "\n".join(page.extract_text() for page in pages)


def ran(folder, source):
    """The program's end with this template in this folder."""
    (folder / "probe.typ").write_text(f'#set document(title: "Probe")\n{source}')
    command = [sys.executable, "-I", str(printing._PRINTER), str(folder), "probe.typ", "probe", "0"]
    return subprocess.run(command, input=b"{}", capture_output=True, env={}, check=False)


class TestCharacters:
    def test_of_all_ranges_have_a_shape(self):
        every = [chr(code) for code in chain.from_iterable(PRINTED_RANGES)]
        kept = [character for character in every if printable(character) == character]

        text = printed(["".join(kept[at : at + 50]) for at in range(0, len(kept), 50)])

        assert len(kept) > 3_000
        assert {"é", "Ω", "Я", "€", "א"} <= set(kept) & set(text)

    @pytest.mark.parametrize("seed", [1, 2, 3])
    def test_in_any_order_make_a_file(self, seed):
        chance = random.Random(seed)
        texts = [
            "".join(chr(chance.choice(ANY)) for _ in range(chance.randint(1, 40)))
            for _ in range(150)
        ]

        assert printed([printable(text) for text in texts])

    @pytest.mark.parametrize(
        ("typed", "shown"),
        [
            ("Rent, week 7", "Rent, week 7"),
            ("cafe\u0301", "café"),
            ("q\u0308", "q"),
            ("two\nlines\tand\u00a0more", "two lines and more"),
            ("turned\u202eround\u200b", "turnedround"),
            ("❤\ufe0f 👍", "[heavy black heart] [thumbs up sign]"),
            ("東京 1", f"{STAND_IN}{STAND_IN} 1"),
            ("\ue000", ""),
        ],
    )
    def test_that_a_file_cannot_show(self, typed, shown):
        assert printable(typed) == shown


# Some of everything: letters of all scripts, marks, signs, what cannot be seen.
ANY = [
    code
    for code in chain(range(0x20, 0x3100), range(0xAC00, 0xAC80), range(0x1F300, 0x1F700))
    if unicodedata.category(chr(code)) not in ("Cn", "Cs")
]


class TestReach:
    @pytest.mark.parametrize("path", ["../secret.txt", "/../secret.txt"])
    def test_ends_at_the_folder(self, tmp_path, path):
        (tmp_path / "secret.txt").write_text("secret")
        folder = tmp_path / "folder"
        folder.mkdir()

        done = ran(folder, f'#read("{path}")')

        assert (done.returncode, done.stdout) == (1, b"")
        assert b"failed to load file" in done.stderr or b"project root" in done.stderr

    def test_of_an_absolute_path_starts_in_the_folder(self, tmp_path):
        done = ran(tmp_path, '#read("/etc/passwd")')

        assert done.returncode == 1
        assert f"searched at {tmp_path}/etc/passwd".encode() in done.stderr

    def test_into_the_folder_works(self, tmp_path):
        (tmp_path / "near.txt").write_text("near")

        done = ran(tmp_path, '#read("near.txt")')

        assert done.returncode == 0
        assert PdfReader(BytesIO(done.stdout)).pages[0].extract_text() == "near"


def test_a_template_that_is_wrong_is_a_mistake_of_ours():
    with pytest.raises(NotPrinted, match="title"):
        printing.typeset("statement.typ", {}, at=AT)
