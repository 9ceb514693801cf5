"""What the small sites share: the sites of the shop, the papers, the social network and the CMS.

``people`` is who signs in, ``site`` a site's look and sessions, ``application`` puts its pages together, ``policy``
says who may call what of the API. What they have in common with the blog's site, which knows more, is in
``keyplan_systems.site``: styles and the frame of each page (``site/templates``), and what requests go through.
"""
