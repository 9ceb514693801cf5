"""Converts a design's values to JSON and Markdown, and converts command-line and query-string arguments. The REST API
and the command line share this package; stored formats are in ``keyplan.model.stored``.
"""
