"""NACHA files: a writer, a reader, and a second judge of what the writer wrote.

A package of its own, which imports neither Django nor anything else of ours. `records` names the
fields as the rule book does; `reader` and `writer` stream; `validator` judges a whole outbound file
as an ACH operator does, and shares nothing with the writer but the names of the faults (decision
0143).

Sources: the Nacha Operating Rules, Appendix One (files, their acknowledgements), Appendix Two
(what an operator refuses), Appendix Three (records and fields), Appendix Four (returns) and
Appendix Five (notifications of change).
"""
