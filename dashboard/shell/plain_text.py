"""Lines of plain text e-mails: sentences fill them, whatever their templates look like."""

from __future__ import annotations

import re
import textwrap

WIDTH = 72
# Between lines that whoever wrote them set apart, and that stay so.
OWN_LINE = "\N{LINE SEPARATOR}"
_FACT = re.compile(r" +\S.*?(?:: | {2,})(?=\S)|  +(?=\S)")


def wrapped(text: str) -> str:
    """The text with sentences of WIDTH characters a line, as paragraphs between empty lines.

    A line that begins with blanks is a fact: it stands for itself, and its value goes on below
    itself. No word is broken, so that an address stays one.
    """
    paragraphs = re.split(r"\n(?:[ \t]*\n)+", text.strip("\n"))
    return "\n\n".join("\n".join(_lines(paragraph)) for paragraph in paragraphs)


def own_lines(text: str) -> str:
    """A text that keeps its lines when it is wrapped."""
    return OWN_LINE.join(text.splitlines())


def _lines(paragraph: str) -> list[str]:
    found: list[str] = []
    sentences: list[str] = []
    for line in paragraph.split("\n"):
        is_fact = line.startswith(" ")
        if is_fact and sentences:
            found += _filled(" ".join(sentences))
            sentences = []
        if is_fact:
            found += _fact(line.rstrip())
        elif line.strip():
            sentences.append(line.strip())
    return found + _filled(" ".join(sentences))


def _fact(line: str) -> list[str]:
    label = _FACT.match(line)
    below = label.end() if label else 0
    return _filled(line, below=below) if " " in line[below:] else [line]


def _filled(text: str, *, below: int = 0) -> list[str]:
    return [
        line
        for own in text.split(OWN_LINE)
        for line in textwrap.wrap(
            own,
            WIDTH,
            subsequent_indent=" " * min(below, WIDTH // 3),
            break_long_words=False,
            break_on_hyphens=False,
        )
    ]
