"""Approvals: a person says yes before money moves. What `funding` and `payments` share of it
(decision 0055)."""
