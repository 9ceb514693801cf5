"""Measurements, run by hand: `make bench`. What must hold is asserted in tests/."""
