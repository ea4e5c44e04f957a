"""What comes back from a bank: files are stored first, then read, then applied once."""
