"""A catalogue of papers, their authors, versions and topics. See README.md."""

from keyplan_systems.papers.design import (
    Author,
    Collection,
    Credential,
    FullText,
    Membership,
    Paper,
    PaperDetails,
    Papers,
    PaperTopic,
    PaperVersion,
    PaperWithAuthors,
    Reference,
    byline,
)

__all__ = [
    "Author",
    "Collection",
    "Credential",
    "FullText",
    "Membership",
    "Paper",
    "PaperDetails",
    "PaperTopic",
    "PaperVersion",
    "PaperWithAuthors",
    "Papers",
    "Reference",
    "byline",
]
