"""Items: their stored form, and writing one with its conditions and index entries."""
