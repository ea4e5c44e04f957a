"""Asking people before money moves: what `funding` and `payments` share of it (decision 0055)."""
