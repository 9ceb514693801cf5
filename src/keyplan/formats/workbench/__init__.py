"""Imports NoSQL Workbench models as design modules. ``keyplan.formats.workbench_export`` exports them.

``reading.py`` reads the file, ``plain.py`` its values, and ``tables.py`` converts other files to Workbench's layout.
``grouping.py`` finds the entities among the items, ``inference.py`` their key templates and fields, ``module.py``
writes the Python module, ``compiling.py`` compiles it, and ``samples.py`` reads the sample with it. ``description.py``
writes a design's keys into a model's description and reads them back. Doubtful guesses are TODOs in the module.
"""
