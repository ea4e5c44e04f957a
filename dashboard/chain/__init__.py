"""What belongs to one funding or payment: where its money went, what was told of it, and what comes
next (decision 0198)."""
