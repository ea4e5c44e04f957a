"""The refusals after which another network may be tried: the receiving bank cannot take this
payment instantly, and nothing speaks against the account or the payment itself.

Each is final where it was said: no money moved, and none will. What says that the account is wrong,
closed or blocked, that the payment is malformed or that our own money is short is not here, because
another network would meet the same. The codes are those of pacs.002 in The Clearing House's
schemas, with the proprietary ones of the RTP network (`NOAT` and four digits), and those of FedNow
(`E…`) that Cross River publishes. `return_codes` has their words.
"""

from __future__ import annotations

from networks.return_codes import NOT_CARRIED, NOT_REACHED, TOO_MUCH

_NO_PARTICIPANT = frozenset({NOT_REACHED, "AGNT", "RC04", "9964"})
_NOT_THIS_MESSAGE = frozenset({NOT_CARRIED, "AG03", "NOAT"})
_NOT_SO_MUCH = frozenset({TOO_MUCH, "AM02", "AM13", "AM14"})
_NOT_THERE = frozenset({"9910", "9912", "9947"})
# The network itself rejected it, because the bank was silent: it settles no more.
_NOT_IN_TIME = frozenset({"DS24", "E996", "E997"})

CANNOT_TAKE_IT = _NO_PARTICIPANT | _NOT_THIS_MESSAGE | _NOT_SO_MUCH | _NOT_THERE | _NOT_IN_TIME
