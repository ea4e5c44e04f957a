"""What comes from a network: stored first, acknowledged second, applied third."""
