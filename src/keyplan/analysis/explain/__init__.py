"""Explanations: the exact requests of a pattern, without a store, and why it needs no scan.

``explanation.py`` runs the client against an empty store, or with symbols (``symbolic_plans.py``). ``wording.py``
has the sentences.
"""
