"""What money in and money out have in common: one transfer of money over a payment network.

`funding` and `payments` say what their transfers are (`contract`); this package hands them to the
networks, hears what became of them, and lets staff hold them.
"""
