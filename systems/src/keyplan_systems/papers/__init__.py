"""A catalogue of papers, their authors, versions and topics. README.md tells how it follows its document, and
answers the document's open questions.
"""

from keyplan_systems.papers.design import (
    Author,
    Membership,
    Paper,
    Papers,
    PaperTopic,
    PaperVersion,
    PaperWithAuthors,
    byline,
)

__all__ = [
    "Author",
    "Membership",
    "Paper",
    "PaperTopic",
    "PaperVersion",
    "PaperWithAuthors",
    "Papers",
    "byline",
]
