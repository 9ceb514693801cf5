"""Designs made at random, run on stores with generated items against brute force, ``check`` and ``cost`` included."""
