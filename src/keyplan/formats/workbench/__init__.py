"""A design module made of a NoSQL Workbench model. The other way is ``keyplan.formats.workbench_export``.

``reading.py`` reads the file, and ``plain.py`` its values, as a person would; ``tables.py`` lays out the tables of
other files as Workbench does; ``declarations.py`` reads what Keyplan wrote into its description (``declared.py`` of it
fields and questions, ``types.py`` their types). ``grouping.py`` tells the sample's items apart, by what ``texts.py``
takes for words; ``drafts.py`` and ``drafting.py`` make entities of them, ``inference.py`` finds the templates;
``meeting.py`` says which keys could be the same. ``module.py`` writes the Python module, and ``samples.py`` takes the
sample through it.
"""
