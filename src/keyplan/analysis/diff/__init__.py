"""Compare two designs, and report what each change means for a table with data of the first. No store is opened."""
