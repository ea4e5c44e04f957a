"""One funding or one payment at the desk, with everything that hangs on it (decision 0198)."""
