"""Instant payments: requests for payment and credit transfers over RTP and FedNow."""
