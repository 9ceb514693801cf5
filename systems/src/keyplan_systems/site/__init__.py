"""Shared by all sites: requests, forms, sessions, limits, Markdown, search. No pages or designs of one system.

``serving`` runs pages and forms, ``visitors`` manages cookies, ``problems`` shows errors as pages, ``application`` adds
static files and the guard. ``guard`` checks every request, ``incoming`` parses query strings and forms, ``limits``
counts attempts, ``signing`` signs cookies and tokens, ``markdown`` renders safe HTML. Page layouts are in
``templates``, styles and the script in ``static``.
"""
