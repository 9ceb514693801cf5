"""Values of a design for people and other programs: JSON, command-line and query-string arguments, Markdown tables.
REST and the command line share this package; stored forms are in ``keyplan.model.stored``.
"""
