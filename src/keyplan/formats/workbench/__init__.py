"""Imports NoSQL Workbench models as design modules. ``keyplan.formats.workbench_export`` exports designs as models.

``reading.py`` reads the file. ``grouping.py`` groups the items by entity, ``inference.py`` infers key templates and
fields, and ``module.py`` writes the Python module, compiles it, and reads the sample with it. ``description.py`` writes
a design's keys into a model's description and reads them back. Uncertain guesses are marked with TODO.
"""
