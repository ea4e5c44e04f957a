"""What the chapters about a live tenant share: its world, its bank, and who releases its files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ballast_client import Ballast

from demo.story.api import BASE_URL, manage
from demo.story.browser import Person
from demo.story.console import chapter, check, dollars, say, wait_for
from demo.story.story import Story
from devstack.odfi import client


class Live(Story):
    """`made` is what the command said; `bank` is the bank's folder, and `bank_had` what our account
    there came to at first, in cents."""

    made: dict[str, Any]
    owner: Person
    operator: Person
    releaser: Person
    bank: Path
    bank_had: int

    @classmethod
    def connect(cls) -> Live:
        """From the connection to the bank to a live key."""
        chapter("A live tenant, and a bank that takes ACH files by SFTP")
        tenant = cls()
        tenant.bank = Path(os.environ["BALLAST_RUN_DIR"]) / "bank"
        tenant.made = manage("seed_live")
        tenant.owner, tenant.operator, tenant.releaser = (
            Person(tenant.made[name], tenant.made["password"])
            for name in ("email", "operatorEmail", "releaserEmail")
        )
        tenant.bank_had = tenant.at_bank()
        known = client.connection(tenant.bank)
        say(f"rail {tenant.made['rail']}: the bank listens at {known['host']}:{known['port']}")
        say("we pinned its host key, and gave it the public half of ours")
        key = tenant.made["apiKey"]
        check(key.startswith("bal_live_"), f"a live key: {key[:17]}…")
        tenant.ballast = Ballast(key, base_url=BASE_URL)
        return tenant

    def at_bank(self) -> int:
        """Cents in our account at the bank, by the bank."""
        return int(client.call(self.bank, "totals")["balance"])

    def release(self, total: int) -> None:
        """Two people let go of the files that come to `total` cents, most often one file."""

        def built() -> dict[str, int] | None:
            files = self.operator.files("First release")
            return files if sum(files.values()) >= total else None

        files = wait_for("the file at the desk", built)
        check(sum(files.values()) == total, f"debits and credits of the file: {dollars(total)}")
        for file_id, cents in files.items():
            _release(self.operator, self.releaser, file_id, cents)

        def answered() -> bool | None:
            pages = [self.operator.read(f"/admin/desk/files/{file_id}/") for file_id in files]
            return all("The bank's answer" in page for page in pages) or None

        wait_for("the bank to acknowledge it", answered)
        say("sent under a temporary name, read back, renamed; acknowledged by the bank")


def _release(first: Person, second: Person, file_id: str, cents: int) -> None:
    path = f"/admin/desk/files/{file_id}/release/"
    said = first.send(path)
    check("A second person releases it now" in said, f"{first.email} releases it first")
    check("so somebody else does this" in first.read(path), "and cannot be the second person, too")
    said = second.send(path, total="1.00")
    check("another sum" in said, f"{second.email} types a wrong total: refused")
    said = second.send(path, total=dollars(cents).strip("$"))
    check("A worker sends it now" in said, f"types {dollars(cents)}: released to the bank")
