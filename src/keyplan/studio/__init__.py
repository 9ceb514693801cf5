"""The studio shows a table as item collections, its access patterns, its data, its cost, and changes of its design.
``sampling`` reads items, ``collections`` groups them, ``layout`` places them, ``drawing`` draws them. ``actions`` lists
the page's actions, ``application`` serves them (extra ``web``), and ``static/`` is the page.
"""
