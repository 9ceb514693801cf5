"""Random designs on generated items: results of reads are compared with brute-force results."""
