"""Where the two networks' messages say what: a table of leaves for each message.

The tables hold what the networks require and what we use. Whatever else a network allows is passed
over when it is read.
"""
