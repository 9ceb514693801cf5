"""Estimates the read and write units of each pattern, on the table and on each index, and the USD per month.

``unit_counts.py`` calculates the units of one request. ``read_facts.py`` and ``read_requests.py`` predict the requests
of a read, and ``write_costs.py`` those of a write. ``estimate.py`` adds up the units, and ``bills.py`` prices them.
The estimate sends no requests. Tests compare the predicted units with the units that the embedded store consumes.
"""
