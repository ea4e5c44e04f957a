"""Bank statements at the desk: our accounts behind the rails, what their banks say, and uploads."""
