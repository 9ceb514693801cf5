"""What a pattern asks of the store, exactly, without a store; and why it needs no scan.

``explanation.py`` runs the client's own conversations against a store that holds nothing, or that knows names only
(``symbolic.py``); ``wording.py`` says what is asked, ``alternatives.py`` why no other key serves. What a call takes is
added by the command line, from ``keyplan.cost``.
"""
