"""A stand-in for the bank that sends our ACH files (the ODFI), the ACH operator behind it and the
banks of the account holders (the RDFIs): one program, for development and tests.

It takes NACHA files by SFTP and answers as a bank would: acknowledgements, returns, notifications
of change, statements. It shares no code with the product. Both read the rule book for themselves,
so that a misreading of one shows as a disagreement. The imports are checked by a contract.

Amounts are whole cents. Days and times of day are Eastern; instants are kept in UTC.
"""

from __future__ import annotations
