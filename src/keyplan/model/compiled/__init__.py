"""Compilation of designs: signatures, read plans and conditions. All errors of a design are reported together."""
