"""A stand-in for the operators of instant payments, RTP and FedNow, and for the banks behind them:
one program, for development and tests.

It takes ISO 20022 messages by HTTPS, settles payments over the positions of its participants, and
answers as an operator, a receiving bank or a payer's bank would. It shares no code with the
product. Both read the networks' rules for themselves, so that a misreading of one shows as a
disagreement. The imports are checked by a contract.

Amounts are whole cents. Instants are kept in UTC. There are no banking days: it works round the
clock, and a cycle day ends when its network says so.
"""

from __future__ import annotations
