"""Faults planted in the library, to see whether a test fails: ``make mutants``. No tests of the product lie here."""
