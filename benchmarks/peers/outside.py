"""Told through a pipe by `benchmarks.clients.Outside`: reads seconds, answers with a rate.

Runs under the peers' interpreter: `python -m benchmarks.peers.outside PEER [ARGUMENT …]`.
"""

from __future__ import annotations

import os
import sys
import time
from importlib import import_module

import django


def main() -> None:
    """Make the tables, prepare the operation, then do it as long as told."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.peers.settings"
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a peer prints is no answer
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    act = import_module(f"benchmarks.peers.{sys.argv[1]}").prepare(*sys.argv[2:])
    for _ in range(3):
        act()
    answers.write("ready\n")
    answers.flush()
    for line in sys.stdin:
        began = time.perf_counter()
        end, count = began + float(line), 0
        while count == 0 or time.perf_counter() < end:
            act()
            count += 1
        answers.write(f"{count / (time.perf_counter() - began)}\n")
        answers.flush()


if __name__ == "__main__":
    main()
