"""Compares two designs without a store, and reports the effect of each change on data of the old design."""
