"""What a write does, for everybody who wants to know: the checker, costs, explanations, policies, tests.

A body is its author's code. ``following.py`` reads what it can do, in every branch; ``trials.py`` runs it with typical
arguments in a typical world (``running.py``), cut off from the world outside (``guard.py``), to see what it does.
``account.py`` puts both together: what the write asks, writes, needs, and why it can't work where it can't. Nothing is
sent. What it costs is in ``keyplan.cost``.
"""
