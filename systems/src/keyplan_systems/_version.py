"""The version, and nothing else. It is the library's, and a test compares them."""

__version__ = "0.1.0"
