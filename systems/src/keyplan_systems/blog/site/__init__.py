"""The blog's site: pages made on the server from the design's patterns, and nothing else.

``application.py`` puts it together, ``pages/`` holds one file a subject. What a pattern does is in the design; the REST
API is ``keyplan.web``'s, and ``policy.py`` says who may call it.
"""
