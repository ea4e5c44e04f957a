"""A bank that notes what it is asked, and what becomes of transfers that are sent to it."""

from __future__ import annotations

from dataclasses import replace

from networks.base import NetworkUnavailable
from networks.sandbox.bank import SandboxBank
from tests.builders import NOW
from transfers import submission


class Bank(SandboxBank):
    """The sandbox bank. It notes every call, and `what_else` may change the answers to one."""

    def __init__(self, what_else=lambda answers: answers, **terms):
        self.capabilities = replace(SandboxBank.capabilities, **terms)
        self.calls = []
        self.asked = []
        self.is_deaf = False
        self.what_else = what_else
        self.what_else_found = lambda found: found

    def submit_many(self, instructions, *, now):
        self.calls.append([each.id for each in instructions])
        return self.what_else(super().submit_many(instructions, now=now))

    def find(self, instruction_id):
        self.asked.append(instruction_id)
        if self.is_deaf:
            raise NetworkUnavailable("no answer")
        return self.what_else_found(super().find(instruction_id))


def read(row):
    return type(row).objects.get(pk=row.pk)


def states_of(rows):
    return [read(row).status for row in rows]


def submit(money, now=NOW):
    return submission.submit_due(money.transfer, now=now)
