"""What a design costs: read and write units of each pattern, on the table and on each index, and USD a month.

``units.py`` and ``mutations.py`` have the arithmetic of single requests; ``reading.py`` and ``writing.py`` the requests
that a pattern makes; ``facts.py`` thinks of typical finds, with which the client's conversations are answered, and
``keyplan.rehearsal`` of typical writes; ``estimate.py`` puts a design together, ``bills.py`` prices it by a list in
``prices/``. It makes no requests, and doesn't know the engine: that what it predicts is what the engine meters is a
test.
"""
