"""The analysis of writes: what a body reads, writes and needs.

``body_reader.py`` evaluates the syntax tree in every branch. ``dry_run.py`` runs the body without a store, with
typical arguments or those of ``@write(..., example=...)``. ``analysis.py`` combines both. Anything that neither
determines is unknown.
"""
