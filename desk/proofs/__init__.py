"""Proofs of funds at the desk: what was signed, to read, print and hand out."""
