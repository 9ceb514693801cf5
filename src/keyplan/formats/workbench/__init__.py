"""NoSQL Workbench models as design modules. ``keyplan.formats.workbench_export`` is the other way.

``reading.py`` reads the file, ``plain.py`` its values, and ``tables.py`` lays out other files as Workbench does.
``grouping.py`` finds the entities among the items, ``inference.py`` their key templates and fields, ``module.py``
writes the Python module, and ``samples.py`` reads the sample through it. ``description.py`` writes the keys of a design
into a model's description and reads them back. Whatever is doubtful is a TODO in the module.
"""
