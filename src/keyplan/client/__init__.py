"""Carrying out plans: conversations (what to ask and what to make of the answers) and transports (how to ask).

A conversation is a generator of requests; it opens no socket and no file, and the same one serves synchronous and
asynchronous callers. What a plan is, is decided in ``keyplan.design``.
"""
