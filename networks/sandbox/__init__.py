"""The sandbox bank: it plays the outside world, and does what a test account number says.

Its tables are the memory of that world, and nothing else writes them. So the bank forgets nothing
when our side is killed. They contain no account number.
"""
