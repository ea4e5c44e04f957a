"""The client of a bank's SFTP server: folders are listed, files read, delivered once, and removed.

A package of its own, which knows neither Django nor rows (decision 0131). `settings` says where a
bank is and by which keys it is known; `bank.connected` opens one connection; `keys` makes our keys
and reads the bank's; whatever goes wrong is one of the `errors`, with a sentence for staff.
"""
