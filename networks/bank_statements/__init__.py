"""Bank statements: BAI2 and ISO 20022 camt.052, camt.053 and camt.054, read as a stream.

A package of its own, which imports neither Django nor anything else of ours; beside the standard
library it needs lxml. `reading.read` takes any of the formats. Both readers yield the same events
(`items`): a heading for each statement, its lines, and whatever is wrong by name (`faults`).
Nothing of a file may be used before its last event has come.

Sources: Cash Management Balance Reporting Specifications, Version 2 (BAI, 2005) for BAI2; the ISO
20022 message definitions of camt.052, camt.053 and camt.054, and its external code sets, for camt.
"""
