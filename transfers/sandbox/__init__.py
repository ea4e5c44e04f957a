"""A sandbox tenant plays its bank and has all that is due done at once."""
