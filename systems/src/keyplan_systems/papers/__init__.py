"""A catalogue of papers, their authors, versions and topics. README.md tells how it follows its document, and
answers the document's open questions.
"""

from keyplan_systems.papers.design import (
    Author,
    Collection,
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
