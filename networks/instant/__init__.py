"""Instant payments over RTP and FedNow, one core with two profiles.

It imports nothing above `networks`: tenants, staff and instructions are opaque text here.
"""
