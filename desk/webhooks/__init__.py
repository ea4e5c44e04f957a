"""Webhook events and their deliveries at the desk, with everything that hangs on them (decision
0198)."""
