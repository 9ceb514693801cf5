"""A catalogue of papers, their authors, versions and topics. See README.md."""

from keyplan_systems.papers.design import Papers

__all__ = ["Papers"]
