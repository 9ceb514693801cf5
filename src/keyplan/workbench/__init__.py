"""A design module made of a NoSQL Workbench model. The other way is ``keyplan.export.workbench``.

``reading.py`` reads the file and tells its faults by place; ``declarations.py`` reads what Keyplan wrote into its
description; ``drafts.py`` makes entities of the facets, ``inference.py`` finds the templates in their sample items;
``module.py`` writes the Python module.
"""
