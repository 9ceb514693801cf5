"""Tests of calls that type checkers accept or reject. Errors in designs are tested in tests/design."""
# ruff: noqa: A005 - the folder is named for what it tests
