"""Options that commands of an operator share."""

from __future__ import annotations

import argparse

from django.core.management.base import CommandParser


def add_who_and_why(parser: CommandParser) -> None:
    """`--operator` and `--reason`, both for the audit log."""
    parser.add_argument("--operator", required=True, type=_said, help="your name, kept for good")
    parser.add_argument("--reason", required=True, type=_said, help="kept in the audit log")


def _said(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("say something")
    return text.strip()
