"""Exports, imports and bulk operations: files in a local folder that stands in for the buckets of Amazon S3.

``folder`` knows buckets and objects, ``ion`` Amazon Ion's text, ``formats`` the way between lines and items; ``jobs``
what the three kinds of operations have in common, and ``exports``, ``imports`` and ``bulk`` what they do.
"""
