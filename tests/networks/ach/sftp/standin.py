"""The stand-in bank, and what a customer of it knows and delivers."""

from __future__ import annotations

import dataclasses
import hashlib
import random
from pathlib import Path

from devstack.odfi import client
from networks.ach.sftp.bank import connected
from networks.ach.sftp.settings import SftpSettings

OUTBOUND = "outbound"


def settings_for(bank, **changes) -> SftpSettings:
    known = client.connection(bank.home)
    agreed = {
        "rail": "stand-in",
        "host": known["host"],
        "port": known["port"],
        "user": known["username"],
        "host_keys": (known["host_key"],),
        "private_key": Path(known["private_key"]).read_bytes(),
    }
    return SftpSettings(**{**agreed, **changes})


def other_host_key(bank):
    """The key that the host shows by mistake."""
    return (bank.home / "keys" / "other_host_ed25519.pub").read_text()


@dataclasses.dataclass
class Paper:
    """A file to deliver, and what a row would remember of its attempts."""

    name: str
    content: bytes
    in_doubt: str = ""

    @property
    def told(self):
        return {"size": len(self.content), "sha256": hashlib.sha256(self.content).hexdigest()}

    def mark(self, temporary):
        self.in_doubt = temporary

    def deliver(self, settings, **changes):
        """One attempt, as a worker makes it."""
        given = {"before_rename": self.mark, "in_doubt": self.in_doubt, **self.told, **changes}
        with connected(settings) as bank:
            return bank.deliver(OUTBOUND, self.name, [self.content], **given)

    def find(self, settings):
        with connected(settings) as bank:
            return bank.find_delivered(OUTBOUND, self.name, in_doubt=self.in_doubt, **self.told)

    def taken(self, bank):
        """The sizes of the files of this name that the bank took."""
        bank.ask("scan")
        return [each["size"] for each in bank.ask("files") if each["name"] == self.name]


def paper(number, size=100_000) -> Paper:
    return Paper(name=f"F{number}.ach", content=random.Random(number).randbytes(size))
