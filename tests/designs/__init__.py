"""Random designs on stores with generated items, compared with brute force, including ``check`` and ``cost``."""
