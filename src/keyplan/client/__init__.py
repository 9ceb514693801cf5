"""Executes plans: conversations yield requests and handle responses, and transports send the requests.

A conversation is a generator of requests that opens no sockets or files, so synchronous and asynchronous callers share
the same code. Plans are compiled in ``keyplan.model``.
"""
