"""The cost of a design: read and write units of each pattern, on the table and on each index, and USD per month.

``unit_counts.py`` has the units of single requests. ``read_facts.py`` and ``read_requests.py`` predict the
requests of a read, ``write_costs.py`` those of a write. ``estimate.py`` combines them, and ``bills.py`` prices them
with a list in ``prices/``. Nothing is sent. Tests compare the prediction with what the store meters.
"""
