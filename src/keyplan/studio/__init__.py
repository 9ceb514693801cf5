"""The studio: a table seen as item collections, its questions run on it, its data worked on, its design changed.

What is shown is made in Python, as JSON data and as one drawing, and tested without a browser: ``subject.py`` says what
is looked at, ``items.py`` what an item is, ``sampling.py`` which items are shown, ``collections.py`` how they stand
together, ``layout.py`` where, ``drawing.py`` what that looks like. ``application.py`` serves it (extra ``web``), and
``static/`` has the page. How requests are made is the client's, what they cost is in ``keyplan.cost``.
"""
