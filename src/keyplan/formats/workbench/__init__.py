"""Imports NoSQL Workbench models as design modules. ``keyplan.formats.workbench_export`` exports them.

``reading.py`` reads the file. ``grouping.py`` finds the entities among the items, ``inference.py`` their key templates
and fields, and ``module.py`` writes the Python module, compiles it, and reads the sample with it. ``description.py``
writes a design's keys into a model's description and reads them back. Doubtful guesses are TODOs in the module.
"""
