"""What the small sites share: the sites of the shop, the papers, the social network and the CMS.

``settings`` says how a site is served, ``people`` who signs in, ``site`` is what pages and forms go through,
``application`` puts a site together, ``policy`` says who may call what of the API. The blog has its own, which know
more. The styles are the blog's, and ``static/more.css`` what these sites need besides.
"""
