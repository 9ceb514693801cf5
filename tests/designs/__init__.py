"""Random designs on generated items: reads, ``check``, ``cost`` and other results are compared with brute force."""
