"""A worker who takes entries and brings them to a bank's folder until somebody kills it.

`python -m tests.scenarios.ach_worker FOLDER`: all of it at one moment of the tests, so that what a
dead worker has claimed stays claimed until its lease is over.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.database import owner

TOGETHER = 4


def start(folder: Path) -> subprocess.Popen[bytes]:
    """A worker on the test database."""
    command = [sys.executable, "-m", "tests.scenarios.ach_worker", str(folder)]
    return subprocess.Popen(command, env=os.environ | {"DATABASE_URL": owner.address()})


def main(folder: Path) -> None:
    import django

    django.setup()
    from common import ids
    from networks.ach.sftp.errors import SftpError
    from tests.networks.ach import life
    from tests.networks.ach.builders import BANK, NOON
    from tests.networks.ach.folder import Folder

    while True:
        new = [life.an_instruction(ids.new("ftx")) for _ in range(TOGETHER)]
        BANK.submit_many(new, now=NOON)
        try:
            life.go_through(Folder(folder))
        except SftpError:
            raise SystemExit("the folder is not what it should be") from None


if __name__ == "__main__":
    main(Path(sys.argv[1]))
