"""The studio shows a table's item collections, access patterns, data and cost, and the effects of design changes.
``sampling`` reads items, ``collections`` groups items, and ``layout`` and ``drawing`` draw the map. ``actions`` has the
page's actions, ``application`` serves the page and its actions (extra ``web``), and ``static/`` is the page.
"""
