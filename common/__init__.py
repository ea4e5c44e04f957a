"""What every package may use; it imports none of them.

admin          what pages of the admin share
audits         rules and findings of audits
clock          reads the clock, UTC
commands       base of the management commands
crypto         encryption, and fingerprints of values
database/      roles, rights, triggers, outages
database_clock the database's time, for sweeps
days           Eastern days, months, midnights
drift          is this process's clock right
engine/        what replaces a library
errors         refusals with a code
fields         the column of public ids
figures        rows of the desk's figures
ids            public ids, sorted by time
leases         due rows: claim and finish
mail           render and send one e-mail
money          cents, as people read them
queues         how long each queue is
redaction      removes secrets from log texts
rotation       encrypts again with new keys
sealed         which rows seals cover
staff_actions  admin actions with a reason
state          status machines, compare and swap
sweeps         row by row, despite errors
ticks          when each task last ran
"""
