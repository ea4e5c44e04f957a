"""The sandbox bank: a whole outside world that does what a test account number says.

Its tables are that world's memory, written by nobody else, so that killing our side never makes
the bank forget. Nothing in them tells an account number.
"""
