"""What money in and money out have in common: one transfer of money over a payment network.

`funding` and `payments` each describe their transfers (`contract`). This package hands them to the
networks, applies the messages about them, and lets staff hold them.
"""
