"""The books meet the bank: our accounts behind the rails, what their statements say, and days that
close.

Statements come as files (`networks.ach.inbound`), are read by `networks.bank_statements`, and are
taken whole or not at all (decision 0215). Their lines are matched with the operator's books, and a
day closes at a difference of zero (decision 0216). `solvency` proves it to tenants.
"""
