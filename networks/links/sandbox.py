"""The sandbox's bank-linking provider: a token says what happens.

`processor-sandbox-<word>` is a login at one of the sandbox banks. A word that is one of the
bank's test account numbers opens exactly that account; any other word opens an account of its
own for each account id, the same one every time. `…-invalid`, `…-login-required` and
`…-mismatch` fail as they say.
"""

from __future__ import annotations

import hashlib

from networks import routing
from networks.base import AccountType, HolderType
from networks.links.base import (
    InvalidLinkToken,
    LinkAccountMismatch,
    LinkedAccount,
    LinkNeedsRepair,
)
from networks.sandbox.scripts import is_test_account

PREFIX = "processor-sandbox-"
_BANKS = tuple(routing.SANDBOX_BANKS.items())


class SandboxLinks:
    name = "sandbox"

    def exchange(self, token: str, account_id: str) -> LinkedAccount:
        word = token.removeprefix(PREFIX)
        if not word or word == token or token.endswith("-invalid"):
            raise InvalidLinkToken("not a token of this sandbox")
        if token.endswith("-login-required"):
            raise LinkNeedsRepair("the bank asks the customer to sign in again")
        if token.endswith("-mismatch"):
            raise LinkAccountMismatch("the token opens another account")
        routing_number, bank_name = _BANKS[_number_from(token) % len(_BANKS)]
        derived = f"{_number_from(token, account_id) % 10**12:012d}"
        return LinkedAccount(
            account_id=account_id,
            routing_number=routing_number,
            account_number=word if is_test_account(word) else derived,
            account_type=AccountType.CHECKING,
            holder_type=HolderType.BUSINESS,
            bank_name=bank_name,
        )


def _number_from(*parts: str) -> int:
    return int.from_bytes(hashlib.sha256("\0".join(parts).encode()).digest())
