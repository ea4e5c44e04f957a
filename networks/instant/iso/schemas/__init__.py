"""Small schemas of what we use of each network's messages, written by us (XSD 1.0).

`rtp` and `fednow` hold one for each message, and one for its envelope, by which a whole message is
judged. What a network allows and we do not use is let through unread.
"""
