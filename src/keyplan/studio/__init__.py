"""The studio: a table as item collections, its access patterns, its data, its cost, and changes of its design.

Python makes JSON data and one drawing: ``subject.py`` has the table, ``items.py`` its items, ``sampling.py`` chooses
those that are shown, ``collections.py`` groups them, ``layout.py`` places them and ``drawing.py`` draws them.
``actions.py`` lists the page's actions, ``application.py`` serves them (extra ``web``), and ``static/`` is the page.
"""
