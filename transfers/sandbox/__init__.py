"""Lets a sandbox tenant play its bank, and run all due work at once."""
