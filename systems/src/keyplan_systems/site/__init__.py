"""What the systems' sites share: requests taken strictly, limits, signatures, Markdown; no page, and no design.

``guard`` holds for every request, ``incoming`` reads query strings and forms, ``limits`` counts attempts, ``signing``
signs cookies and tokens, ``markdown`` makes HTML that is safe to show.
"""
