"""Compare two designs without a store, and report the effect of each change on a table with data of the old design."""
