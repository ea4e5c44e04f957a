"""A second judge of what we send: whether the ACH operator takes the file, and whether we want to.

It shares no code with the writer, neither positions of fields nor tables nor arithmetic, so that a
mistake there is found here. Only the names of the faults are the reader's, too. Sources: Nacha
Operating Rules, Appendix Two (what an operator refuses), Appendix Three (record formats), and our
own rules, which each say so.
"""
