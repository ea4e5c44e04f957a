"""How messages go to a network and come from it: over HTTPS, or through folders.

A package of its own, which knows neither Django nor rows, nor what messages say (decision 0219).
"""
