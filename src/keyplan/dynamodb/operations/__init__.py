"""The protocol's vocabulary: the table of operations, request shapes and limits, error types, capacity
arithmetic.

No database logic lives here, and nothing that opens a socket or a file.
"""
