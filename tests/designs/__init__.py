"""Random designs: results of reads, ``check`` and ``cost`` are compared with brute force on generated items."""
