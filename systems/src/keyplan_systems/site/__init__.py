"""What the systems' sites share, the blog's and the small ones: no page of one system alone, and no design.

``serving`` is what pages and forms go through, ``visitors`` the cookies, ``problems`` errors as pages, ``application``
the static files and the guard around it all. ``guard`` holds for every request, ``incoming`` reads query strings and
forms, ``limits`` counts attempts, ``signing`` signs cookies and tokens, ``markdown`` makes HTML that is safe to show.
The frame of each page is in ``templates``, styles and the script are in ``static``.
"""
