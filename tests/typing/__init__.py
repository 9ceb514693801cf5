"""Calls that type checkers accept or reject; tests/design checks errors in designs."""
# ruff: noqa: A005 - the folder is named for what it tests
