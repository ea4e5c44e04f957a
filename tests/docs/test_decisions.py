"""The index of decisions lists every page under its own title, and says which hold no more."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "decisions"
ROW = re.compile(
    r"^\| \[(\d{4})\]\(([\w.-]+)\) \| (.+) \| \d{4}-\d\d-\d\d \| (.+) \|$", re.MULTILINE
)
ROWS = ROW.findall((FOLDER / "README.md").read_text())
PAGES = {path.name: path.read_text() for path in sorted(FOLDER.glob("0*.md"))}


def test_every_page_is_listed_once_in_order():
    assert [name for _, name, _, _ in ROWS] == list(PAGES)


def test_titles_are_the_pages_own():
    for number, name, title, _ in ROWS:
        assert PAGES[name].splitlines()[0] == f"# {number}. {title}"


def test_a_superseded_page_says_so_at_its_top_and_in_the_index():
    for _, name, _, status in ROWS:
        said = re.search(r"^Superseded by (\d{4})", PAGES[name], re.MULTILINE)
        assert ("holds" if said is None else f"superseded by {said[1]}") in status, name
