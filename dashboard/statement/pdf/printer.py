"""Typeset a document: `printer.py FOLDER TEMPLATE NAME CREATED`, with JSON for `sys.inputs.NAME` on
standard input and the PDF file on standard output. CREATED is in seconds since 1970.

A program of its own, started by `printing`: the compiler keeps the memory of every document that it
made, and a flaw of it must not take a web process along. It knows neither Django nor our settings,
reads nothing above FOLDER, uses the typefaces in the compiler's wheel and no others, and can write
no file.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import typst

MEMORY_BYTES_MAX = 2 * 1024**3  # of addresses, which threads reserve and do not use
CPU_SECONDS_MAX = 30


def main(folder: str, template: str, name: str, created: str) -> None:
    """Write the PDF file. Raises typst.TypstError, whose traceback goes to standard error."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS_MAX, CPU_SECONDS_MAX))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    pdf = typst.compile(
        Path(folder, template),
        root=Path(folder),
        font_paths=typst.Fonts(include_system_fonts=False),
        sys_inputs={name: sys.stdin.buffer.read().decode()},
        pdf_standards=["ua-1"],
        timestamp=int(created),
    )
    sys.stdout.buffer.write(pdf)


if __name__ == "__main__":
    main(*sys.argv[1:])
