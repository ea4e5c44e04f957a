"""The messages of ISO 20022 that RTP and FedNow exchange, written and read (decision 0219).

A package of its own: it imports the standard library, lxml, `networks.latin` and itself. `messages`
says what a message says; `profiles` in what the two networks differ; `writer.write` and
`reader.read` turn the one into bytes and back. Amounts are US cents, moments are aware and in UTC.
"""
