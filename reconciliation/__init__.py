"""The books meet the bank: our accounts behind the rails, and what their statements say.

Statements come as files (`networks.ach.inbound`), are read by `networks.bank_statements`, and are
taken whole or not at all (decision 0215).
"""
