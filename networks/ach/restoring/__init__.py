"""After an older backup was restored: what the bank has, and we do not (decision 0152)."""
