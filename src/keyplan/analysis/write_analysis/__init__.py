"""Analyzes the reads and actions of a write's body, and the IAM actions that the write requires.

``body_reader.py`` evaluates all branches of the body's syntax tree. ``dry_run.py`` runs the body without a store, with
typical arguments or with the arguments in ``@write(..., example=...)``. ``analysis.py`` combines the results, and
reports the effects that neither module can determine.
"""
