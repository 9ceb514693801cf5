"""Streams: what is recorded of a change, shards and their lives, and how they are read.

The records are written by ``recording``, in the transaction of the change; ``lifecycle`` opens, disables and trims
streams; ``shards`` has the names and numbers of shards and records; ``reading`` finds what a request names, and knows
iterators.
"""
