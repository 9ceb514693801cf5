"""The documentation site: ``make site`` builds it from ``docs/``, the READMEs and the docstrings of public names."""
