"""Approvals: a person says yes before money moves. This is what `funding` and `payments` share
(decision 0055)."""
