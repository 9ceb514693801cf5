# ruff: noqa: A005 - the folder is named for what it tests
