"""Compiles signatures, read plans and conditions of designs, and reports all errors of a design together."""
