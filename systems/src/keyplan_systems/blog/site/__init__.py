"""The blog's site: server-rendered pages of the design's patterns.

``application`` combines the pages in ``pages/``, one module per subject. ``keyplan.web`` serves the REST API, with the
authorization in ``policy``.
"""
