"""Executing plans: conversations (requests and the handling of responses) and transports (sending requests).

A conversation is a generator of requests; it opens no socket and no file, so synchronous and asynchronous callers share
the same code. Plans are compiled in ``keyplan.model``.
"""
