"""Compiling designs: signatures, read plans and conditions, with all errors of a design reported together."""
