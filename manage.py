#!/usr/bin/env python
"""Django's command line: `./run manage <command>` starts PostgreSQL and Valkey around it."""

from __future__ import annotations

import os
import sys

from django.core.management import execute_from_command_line

from config.database import AS_JOB, AS_OWNER, JOBS_COMMANDS, OWNERS_COMMANDS

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if sys.argv[1:2] == ["runserver"]:  # it listens wherever it is told to, with DEBUG too
        sys.exit("Ballast is served by gunicorn: start it with ./run, or see docs/operations.md.")
    # A migration, an export or a full audit takes as long as it takes.
    os.environ.setdefault("DATABASE_STATEMENT_TIMEOUT_MS", "0")
    if OWNERS_COMMANDS & set(sys.argv[1:2]):
        os.environ[AS_OWNER] = "1"
    if job := JOBS_COMMANDS.get("".join(sys.argv[1:2])):
        os.environ[AS_JOB] = job
    execute_from_command_line(sys.argv)
