"""ISO 20022 cash management: camt.052 (report), camt.053 (statement), camt.054 (notification)."""
