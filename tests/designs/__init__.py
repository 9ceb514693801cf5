"""Random designs on generated items: reads, ``check``, ``cost`` and more are compared with brute-force results."""
