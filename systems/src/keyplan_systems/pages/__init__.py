"""Shared by the sites of the shop, the paper catalogue, the social network and the CMS.

``site`` has a site's look and sessions, ``people`` its users, ``application`` combines its pages, ``policy`` is the
authorization of its API. ``keyplan_systems.site`` has what the blog's site shares, too.
"""
