"""Instant payments at the desk: what was said about each, message by message."""
