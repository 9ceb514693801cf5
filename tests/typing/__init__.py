"""Calls that type checkers accept, and calls that they refuse; the designs' own faults are tested in design/."""
# ruff: noqa: A005 - the folder is named for what it tests
