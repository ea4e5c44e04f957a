"""Proof of funds: a signed report per day of what tenants own and what lies at the bank, with a
tree in which every tenant finds its own balance (decision 0217).

It knows the ledger and nothing of banks: whoever closes a day brings the bank's figures
(`solvency.figures`).
"""
