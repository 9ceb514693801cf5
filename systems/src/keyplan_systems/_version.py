"""The version: the library's, which a test checks."""

__version__ = "0.1.0"
