"""A webhook receiver for the demo tenant of `./run`: it verifies what comes, as integrators would.

It shows the last deliveries on a page. A development tool; production has no such process.
"""
