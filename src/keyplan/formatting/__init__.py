"""Converts a design's values to JSON and Markdown, and converts command-line and query-string arguments. The REST API
and the command line share this package; ``keyplan.model.stored`` has stored formats.
"""
