"""Items: their stored form, and writes with conditions and index entries."""
