"""What changes between two designs, and what that means for a table that holds data of the first.

``report.py`` puts it together; ``tables.py``, ``entities.py``, ``fields.py`` and ``patterns.py`` compare one subject
each; what a change is, is in ``changes.py``. Designs are compared as they are compiled: no store is opened.
"""
